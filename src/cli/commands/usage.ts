import { type CsvCell, csvRow } from '../../core/csv.ts';
import { monthText, parseMonth, windowIndex } from '../../core/quota.ts';
import { type AccountUsage, type UsageReport, usageReport, usageReportJson } from '../../limits/usage-report.ts';
import { type CommandGroup, UsageError } from '../command.ts';
import { dataCommand, openExistingControl } from '../data-command.ts';
import { JSON_FLAG } from '../define-command.ts';
import { print, table, timeText, visible } from '../output.ts';
import { currentTs } from '../time.ts';

export const usage: CommandGroup = {
  entries: [
    {
      name: 'report',
      summary: 'Report the queries of a month by account and day.',
      load: async () => usageReportCommand,
    },
  ],
};

const usageReportCommand = dataCommand(
  {
    synopsis: 'usage report',
    about: `Reports the counted queries of a calendar month (UTC) by account and day, with the monthly limits of each account
and whether they were reached. The limits are those that the account has now. Accounts without queries are not listed. A
removed account is listed by its subscription number, with the limits that it had.

The report has what is stored. A running server stores its counts twice a second; one that cannot reach the database stores
them when it can again.

--final marks a month that is over as reported. From then on the usage of removed accounts in this month is deleted, within a
day. Keep the output: a later report does not have these accounts.`,
    flags: {
      month: { argument: 'YYYY-MM', meaning: 'the month (default: the last one that is over)' },
      csv: { meaning: 'print one row per account and day, for spreadsheets' },
      json: JSON_FLAG,
      final: { meaning: 'mark the month as reported, after the report was written' },
    },
    examples: ['urlwarden usage report --month 2026-10', 'urlwarden usage report --csv --final > usage.csv'],
  },
  async ({ flags, place }) => {
    if (flags.csv && flags.json) throw new UsageError('--csv and --json exclude each other: give one of them');
    const nowTs = currentTs();
    const month = readMonth(flags.month, windowIndex('month', nowTs));
    const control = await openExistingControl(place);
    try {
      const stored = await usageReport(control, month, nowTs);
      if (flags.final && !stored.isComplete) {
        throw new UsageError(`${stored.month} is not over yet: --final is for months that are over`);
      }
      const report = flags.final ? { ...stored, reportedTs: stored.reportedTs ?? nowTs } : stored;
      await print(
        flags.json ? `${JSON.stringify(usageReportJson(report))}\n` : flags.csv ? csvText(report) : textOf(report),
      );
      if (flags.final) {
        // Usage may be deleted from now on, so the report must be where the reader wants it.
        await outputWritten();
        await control.markReported(month, nowTs);
      }
      return 0;
    } finally {
      await control.close();
    }
  },
);

function readMonth(text: string | undefined, currentMonth: number): number {
  if (text === undefined) return currentMonth - 1;
  const month = parseMonth(text);
  if (month === null) throw new UsageError(`--month must be like 2026-10, not ${JSON.stringify(text)}`);
  if (month > currentMonth)
    throw new UsageError(`--month ${text} is in the future: this month is ${monthText(currentMonth)}`);
  return month;
}

/** Rejects if something before could not be written: the disk is full, for example. */
function outputWritten(): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write('', (error) => (error ? reject(error) : resolve()));
  });
}

type AccountDay = { month: string; account: AccountUsage; day: AccountUsage['days'][number] };

/** Scripts may read columns by position: new ones go to the end. */
const CSV_COLUMNS: readonly [heading: string, cellOf: (row: AccountDay) => CsvCell][] = [
  ['month', ({ month }) => month],
  ['day', ({ day }) => day.day],
  ['sub', ({ account }) => account.sub],
  ['username', ({ account }) => account.username],
  ['tier', ({ account }) => account.tier],
  ['removed_ts', ({ account }) => account.removedTs],
  ['queries', ({ day }) => day.queries],
  ['month_queries', ({ account }) => account.queries],
  ['qms', ({ account }) => account.limits?.qms],
  ['qmh', ({ account }) => account.limits?.qmh],
  ['soft_limit_passed', ({ account }) => `${account.isSoftLimitPassed}`],
  ['hard_limit_reached', ({ account }) => `${account.isHardLimitReached}`],
];

function csvText({ month, accounts }: UsageReport): string {
  const rows = accounts.flatMap((account) => account.days.map((day) => ({ month, account, day })));
  const lines = rows.map((row) => csvRow(CSV_COLUMNS.map(([, cellOf]) => cellOf(row))));
  return [csvRow(CSV_COLUMNS.map(([heading]) => heading)), ...lines].join('');
}

/** The other columns take at most 54 of 80, with counts of ten digits. */
const USERNAME_COLUMNS = 26;

function textOf(report: UsageReport): string {
  const { month, isComplete, reportedTs, queries, accounts } = report;
  const state = isComplete ? '' : ', which is not over yet';
  const mark =
    reportedTs === null
      ? []
      : [`Reported on ${timeText(reportedTs)}: usage of removed accounts is deleted within a day.\n`];
  if (accounts.length === 0) {
    return [`No queries are stored for ${month}${state}.\n`, ...mark].join('');
  }
  return [
    `Queries in ${month}${state}: ${queries}\n`,
    ...mark,
    '\n',
    table(
      ['USERNAME', 'SUB', 'QUERIES', 'SOFT LIMIT', 'HARD LIMIT', 'LIMITS'],
      accounts.map((account) => [
        nameOf(account),
        account.sub,
        account.queries,
        account.limits?.qms ?? 'unknown',
        account.limits?.qmh ?? 'unknown',
        limitState(account),
      ]),
    ),
    '\n',
    table(
      ['SUB', 'DAY', 'QUERIES'],
      accounts.flatMap(({ sub, days }) => days.map((day) => [sub, day.day, day.queries])),
    ),
  ].join('');
}

function nameOf({ username, removedTs }: AccountUsage): string {
  if (username === null) return removedTs === null ? '(unknown)' : '(removed)';
  const name = visible(username);
  return name.length > USERNAME_COLUMNS ? `${name.slice(0, USERNAME_COLUMNS - 1)}…` : name;
}

function limitState({ isSoftLimitPassed, isHardLimitReached }: AccountUsage): string {
  if (isHardLimitReached) return 'hard';
  return isSoftLimitPassed ? 'soft' : '';
}
