import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Control, type DataPlace, type Intelligence, openControl, openIntelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { type DataFiles, dataFiles, requireData } from '../../database/data-folder.ts';
import { checkTable, rebuildIndex, tablesOf } from '../../database/sqlite/integrity.ts';
import { afterId } from '../../urls/integrity-rows.ts';
import { CHECKED_TABLES, keyText } from '../../urls/integrity-rules.ts';
import type { CheckedTable, RowKey, UrlStore } from '../../urls/store.ts';
import { EXIT_FAILURE } from '../command.ts';
import { dataCommand, printResult } from '../data-command.ts';
import { JSON_FLAG } from '../define-command.ts';
import { table } from '../output.ts';
import { counted, countText, createProgress } from '../progress.ts';

/** More are counted but not shown: one table may have millions. */
const MAX_SHOWN_PER_TABLE = 10;

type ShownFault = { table: string; key: string; problem: string; repair: 'done' | 'possible' | 'impossible' };

export const integrity = dataCommand(
  {
    synopsis: 'integrity',
    about: `Checks the data: the structure of the database files of a folder (by SQLite's own check), then whether
the rows agree with each other. Among others, the last status of a URL must be its newest event, and its key the hash of
the URL. Changes nothing without --repair, except that pending migrations are applied. It also works while a server is running, and can be stopped at any time.

The exit code is 0 if no fault remains, otherwise 1. PostgreSQL checks its own files: see docs/scaling.md.`,
    flags: {
      repair: { meaning: 'set what follows from other rows, and build indexes again that disagree with their table' },
      json: JSON_FLAG,
    },
    examples: ['urlwarden integrity --data ./data'],
  },
  async ({ flags, place }) => {
    const report = createReport(flags.repair === true);
    const progress = createProgress();
    try {
      if (!place.databaseUrl) {
        requireData(place.dataDir);
        for (const path of Object.values(dataFiles(place.dataDir)).filter((one) => existsSync(one))) {
          checkStructure(path, report, progress);
        }
      }
      const has = (part: keyof DataFiles) => place.databaseUrl || existsSync(dataFiles(place.dataDir)[part]);
      if (has('intelligence')) await checkUrls(place, report, progress);
      if (has('control')) await checkUsage(place, report);
    } finally {
      progress.end();
    }
    await printResult(report.result(place.databaseUrl ? null : place.dataDir), flags.json);
    return report.remaining() === 0 ? 0 : EXIT_FAILURE;
  },
);

type Report = ReturnType<typeof createReport>;
type Progress = ReturnType<typeof createProgress>;

function createReport(repairs: boolean) {
  const counts = { tables: 0, rows: 0, done: 0, possible: 0, impossible: 0 };
  const shown: ShownFault[] = [];
  const shownByTable = new Map<string, number>();

  return {
    repairs,
    counts,
    add(fault: ShownFault): void {
      counts[fault.repair]++;
      const already = shownByTable.get(fault.table) ?? 0;
      if (already >= MAX_SHOWN_PER_TABLE) return;
      shownByTable.set(fault.table, already + 1);
      shown.push(fault);
    },
    remaining: () => counts.possible + counts.impossible,
    /** `dataDir`: null for PostgreSQL. */
    result(dataDir: string | null) {
      const { tables, rows, done: repaired, possible: repairable, impossible } = counts;
      const json = {
        tables: dataDir === null ? null : tables,
        rows,
        faults: repairable + impossible,
        repairable,
        repaired,
        shown,
      };
      return { text: reportText(counts, shown, dataDir), json };
    },
  };
}

/** The structure of one file. With `--repair`, indexes that disagree with their table are built again. */
function checkStructure(path: string, report: Report, progress: Progress): void {
  const file = basename(path);
  const unreadable = (error: unknown, name: string) => {
    if (!isDamage(error)) throw error;
    report.add({ table: name, key: '', problem: `${file}: ${reasonOf(error)}`, repair: 'impossible' });
  };
  let tables: string[];
  try {
    tables = tablesOf(path);
  } catch (error) {
    unreadable(error, 'sqlite_schema');
    return;
  }
  for (const [i, name] of tables.entries()) {
    progress.showStep(i / tables.length, `${file}: structure of ${name}`, true);
    report.counts.tables++;
    try {
      checkTableStructure(path, name, report);
    } catch (error) {
      unreadable(error, name);
    }
  }
}

function checkTableStructure(path: string, name: string, report: Report): void {
  const before = checkTable(path, name);
  const indexes = new Set(before.map(({ index }) => index).filter((index) => index !== null));
  const isRebuilt = report.repairs && [...indexes].filter((index) => rebuildIndex(path, index)).length > 0;
  const after = isRebuilt ? checkTable(path, name) : before;
  const remaining = new Set(after.map(({ text }) => text));
  const add = (text: string, repair: ShownFault['repair']) =>
    report.add({ table: name, key: '', problem: `${basename(path)}: ${text}`, repair });
  for (const { text } of before) if (!remaining.has(text)) add(text, 'done');
  for (const { text, index } of after) add(text, index === null || report.repairs ? 'impossible' : 'possible');
}

/** Any other error is no fault of the data: the disk is full, or another process has locked the file. */
const isDamage = (error: unknown): error is AppError => error instanceof AppError && error.code === 'damaged';

/** The message of a damaged file advises to run this command, so the first cause, an error of SQLite, is shown. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

/** A damaged file is a fault to report. A PostgreSQL that does not respond ends the command. */
function addUnreadable(error: unknown, report: Report, place: DataPlace, fault: { table: string; key: string }): void {
  if (!isDamage(error) || place.databaseUrl) throw error;
  report.add({ ...fault, problem: `rows cannot be read: ${reasonOf(error)}`, repair: 'impossible' });
}

/** The rows of all tables of the intelligence database, page by page: no transaction is open between two pages. */
async function checkUrls(place: DataPlace, report: Report, progress: Progress): Promise<void> {
  let store: Intelligence;
  try {
    store = await openIntelligence(place);
  } catch (error) {
    addUnreadable(error, report, place, { table: 'migrations', key: '' });
    return;
  }
  try {
    for (const [i, name] of CHECKED_TABLES.entries()) {
      const showAt = (share: number) =>
        progress.showStep((i + share) / CHECKED_TABLES.length, progressText(report, name));
      await checkTableRows(store, name, { report, place, showAt });
    }
  } finally {
    await store.close();
  }
}

type TableContext = { report: Report; place: DataPlace; showAt(share: number): void };

async function checkTableRows(store: Intelligence, name: CheckedTable, context: TableContext): Promise<void> {
  const { report, place, showAt } = context;
  let after: RowKey | null = afterId(name, 0);
  try {
    const { [name]: lastId } = await store.lastIds();
    while (after !== null) {
      showAt(Number(after[0]) / Math.max(1, lastId));
      after = await checkPage(store, name, after, report);
      await setImmediate();
    }
  } catch (error) {
    const key = `after ${(after ?? []).map(keyText).join(' ')}`;
    addUnreadable(error, report, place, { table: name, key });
  }
}

async function checkPage(
  store: Pick<UrlStore, 'checkRows' | 'repairRows'>,
  name: CheckedTable,
  after: RowKey,
  report: Report,
): Promise<RowKey | null> {
  const checked = await store.checkRows(name, after);
  const isRepair = report.repairs && checked.faults.some(({ isRepairable }) => isRepairable);
  const page = isRepair ? await store.repairRows(name, after) : { ...checked, repaired: [] };
  report.counts.rows += page.rows;
  for (const { isRepairable, ...fault } of page.repaired) report.add({ ...fault, repair: 'done' });
  for (const { isRepairable, ...fault } of page.faults) {
    report.add({ ...fault, repair: isRepairable ? 'possible' : 'impossible' });
  }
  return page.next;
}

/** The counts of queries, account by account. */
async function checkUsage(place: DataPlace, report: Report): Promise<void> {
  let control: Control | undefined;
  try {
    control = await openControl(place);
    for (let next = await control.checkUsage(''); next !== null; next = await control.checkUsage(next.sub)) {
      const { sub, rows, wrong } = next;
      const isRepair = report.repairs && wrong.length > 0;
      const months = isRepair ? await control.repairUsage(sub) : wrong;
      report.counts.rows += rows;
      for (const { month, count, sum } of months) {
        const problem = `the month has ${count ?? 'no'} queries, its days have ${sum}`;
        report.add({ table: 'usage', key: `${sub} month ${month}`, problem, repair: isRepair ? 'done' : 'possible' });
      }
      await setImmediate();
    }
  } catch (error) {
    addUnreadable(error, report, place, { table: 'usage', key: '' });
  } finally {
    await control?.close();
  }
}

function progressText({ counts, remaining }: Report, name: string): string {
  return `rows of ${name}: ${counted(counts.rows, 'row')} checked, ${counted(remaining(), 'fault')}`;
}

function reportText(counts: Report['counts'], shown: readonly ShownFault[], dataDir: string | null): string {
  const { tables, rows, done, possible, impossible } = counts;
  const faults = done + possible + impossible;
  const structure =
    dataDir === null
      ? 'The structure was not checked: PostgreSQL checks its own files (docs/scaling.md).'
      : `The structure of ${countText(tables)} tables was checked.`;
  return [
    `${structure} ${countText(rows)} rows were compared with each other.`,
    faults === 0 ? 'No fault was found.' : `Faults: ${countText(faults)}`,
    ...(faults === 0
      ? []
      : ['', faultTable(shown), ...(faults > shown.length ? [`and ${countText(faults - shown.length)} more\n`] : [])]),
    ...(done > 0 ? [`Repaired: ${countText(done)}`] : []),
    ...(possible > 0 ? [`Can be repaired: ${countText(possible)}. Run the same command with --repair.`] : []),
    ...(impossible > 0 ? [`Cannot be repaired: ${countText(impossible)}. ${adviceText(dataDir)}`] : []),
    '',
  ].join('\n');
}

function faultTable(shown: readonly ShownFault[]): string {
  return table(
    ['TABLE', 'KEY', 'REPAIR', 'PROBLEM'],
    shown.map(({ table: name, key, repair, problem }) => [name, key, repair, problem]),
  );
}

function adviceText(dataDir: string | null): string {
  return dataDir === null
    ? 'Restore the database from a backup, and check the disk and the memory of its machine.'
    : 'Restore a backup into a new folder (urlwarden restore FILE --data DIR), and check disk and memory of the machine.';
}
