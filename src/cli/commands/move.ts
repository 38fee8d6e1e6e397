import { describePlace } from '../../app/stores.ts';
import { variableOf } from '../../config/read-settings.ts';
import { SETTINGS } from '../../config/settings.ts';
import { type CopyReport, copyData } from '../../database/copy.ts';
import { type FolderUser, folderUsers } from '../../database/folder-users.ts';
import { EXIT_FAILURE, UsageError } from '../command.ts';
import { defineCommand, JSON_FLAG } from '../define-command.ts';
import { print } from '../output.ts';
import { counted, countText, createProgress } from '../progress.ts';
import { CONFIG_FLAG, readCommandSettings, settingArgs } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';

const { databaseUrl: TARGET } = SETTINGS;
const TARGET_VARIABLE = variableOf(TARGET.flag);

/** Everything is copied, but another process may still write to the folder. */
const EXIT_UNFINISHED = 3;

export const move = defineCommand(
  {
    synopsis: 'move --from DIR --to URL',
    about: `Copies all data of a folder to a new, empty PostgreSQL database: URLs with their ids, accounts, keys,
usage, feeds and imports. Then compares every row.

The server may keep running on the folder meanwhile. Run the same command again if it was interrupted,
or to copy what the server has written since. The move is finished when a run finds that no other process
has the folder open. Until then no server can start on the database.

Exit codes: 0 when the move is finished, ${EXIT_UNFINISHED} when another process still has the folder open, 1 when it failed or was stopped.`,
    flags: {
      from: { argument: 'DIR', meaning: 'the data folder', isRequired: true },
      to: {
        argument: 'URL',
        meaning: `the database: postgres://USER:PASSWORD@HOST:PORT/DATABASE. Prefer the variable ${TARGET_VARIABLE}: other users of this machine can read flags`,
      },
      ...CONFIG_FLAG,
      json: JSON_FLAG,
    },
  },
  async ({ flags }) => {
    const dataDir = flags.from;
    const databaseUrl = readTarget(flags);
    const { signal, dispose } = stopSignal();
    const progress = createProgress();
    try {
      const report = await copyData({
        dataDir,
        databaseUrl,
        signal,
        onProgress: ({ rows, totalRows, seconds }) =>
          progress.show({ rows, rejected: 0, seconds, readBytes: rows, totalBytes: totalRows }),
      });
      progress.end();
      const users = report.isFinished ? [] : folderUsers(dataDir);
      await print(
        flags.json
          ? `${JSON.stringify({ ...report, openBy: users })}\n`
          : reportText(report, { dataDir, databaseUrl, users }),
      );
      return report.isFinished ? 0 : EXIT_UNFINISHED;
    } catch (error) {
      if (!signal.aborted) throw error;
      progress.end();
      await print('Stopped. Run the same command again to continue.\n');
      return EXIT_FAILURE;
    } finally {
      progress.end();
      dispose();
    }
  },
);

/** The settings file and the environment have the database that servers will use. */
function readTarget(flags: { to?: string | undefined; config?: string | undefined }): string {
  const { databaseUrl } = readCommandSettings({ databaseUrl: TARGET }, settingArgs({}, flags));
  if (flags.to === undefined && databaseUrl !== null) return databaseUrl;
  if (flags.to === undefined) throw new UsageError(`--to URL is missing, and ${TARGET_VARIABLE} is not set`);
  const url = TARGET.read(flags.to);
  if (url === null) throw new UsageError(`--to must be ${TARGET.accepts}`);
  return url;
}

type Ends = { dataDir: string; databaseUrl: string; users: readonly FolderUser[] };

function reportText({ rows, written, isFinished, seconds }: CopyReport, { dataDir, databaseUrl, users }: Ends): string {
  const all = Object.values(rows).reduce((sum, of) => sum + of, 0);
  const urlsAndAccounts = `${counted(rows.urls ?? 0, 'URL')} and ${counted(rows.accounts ?? 0, 'account')}`;
  return [
    `${countText(all)} rows, including ${urlsAndAccounts}, are identical in ${dataDir} and ${describePlace({ dataDir, databaseUrl })}.`,
    `This run wrote ${countText(written)} of them in ${seconds.toFixed(1)} s.`,
    isFinished
      ? 'The move is finished. Start the server with: urlwarden serve --database-url URL'
      : `The move is not finished: ${holders(users)} still has ${dataDir} open. Stop it, then run the same command again to copy what it has written since.`,
    '',
  ].join('\n');
}

function holders(users: readonly FolderUser[]): string {
  if (users.length === 0) return 'another process (of another user, or on another machine)';
  return users.map(({ pid, command }) => `process ${pid} (${command})`).join(' and ');
}
