import { describePlace } from '../../app/stores.ts';
import { variableOf } from '../../config/read-settings.ts';
import { SETTINGS } from '../../config/settings.ts';
import { type CopyReport, copyData } from '../../database/copy.ts';
import { EXIT_FAILURE, UsageError } from '../command.ts';
import { defineCommand, JSON_FLAG } from '../define-command.ts';
import { print } from '../output.ts';
import { countText, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';

const { databaseUrl: TARGET } = SETTINGS;
const TARGET_VARIABLE = variableOf(TARGET.flag);

export const move = defineCommand(
  {
    synopsis: 'move --from DIR --to URL',
    about: `Copies all data of a folder to a new, empty PostgreSQL database: URLs with their ids, accounts, keys,
usage, feeds and imports. Then compares every row.

The server may keep running on the folder meanwhile. Run the same command again if it was interrupted,
or to copy what the server has written since. The move is finished when a run finds that no other process
has the folder open. Until then no server can start on the database.`,
    flags: {
      from: { argument: 'DIR', meaning: 'the data folder', isRequired: true },
      to: {
        argument: 'URL',
        meaning: `the database: postgres://USER:PASSWORD@HOST:PORT/DATABASE. Prefer the variable ${TARGET_VARIABLE}: other users of this machine can read flags`,
      },
      json: JSON_FLAG,
    },
  },
  async ({ flags }) => {
    const dataDir = flags.from;
    const databaseUrl = readTarget(flags.to ?? process.env[TARGET_VARIABLE]);
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
      await print(flags.json ? `${JSON.stringify(report)}\n` : reportText(report, dataDir, databaseUrl));
      return 0;
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

function readTarget(text: string | undefined): string {
  if (text === undefined) throw new UsageError(`--to URL is missing, and ${TARGET_VARIABLE} is not set`);
  const url = TARGET.read(text);
  if (url === null) throw new UsageError(`--to must be ${TARGET.accepts}`);
  return url;
}

function reportText({ rows, written, isFinished, seconds }: CopyReport, dataDir: string, databaseUrl: string): string {
  const all = Object.values(rows).reduce((sum, of) => sum + of, 0);
  const urlsAndAccounts = `${countText(rows.urls ?? 0)} URLs and ${countText(rows.accounts ?? 0)} accounts`;
  return [
    `${countText(all)} rows, including ${urlsAndAccounts}, are identical in ${dataDir} and ${describePlace({ dataDir, databaseUrl })}.`,
    `This run wrote ${countText(written)} of them in ${seconds.toFixed(1)} s.`,
    isFinished
      ? 'The move is finished. Start the server with: urlwarden serve --database-url URL'
      : `A server still has ${dataDir} open. Stop it, then run the same command again to copy what it has written since.`,
    '',
  ].join('\n');
}
