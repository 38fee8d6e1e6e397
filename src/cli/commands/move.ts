import { parseArgs } from 'node:util';
import { describePlace } from '../../app/stores.ts';
import { SETTINGS } from '../../config/settings.ts';
import { type CopyReport, copyData } from '../../database/copy.ts';
import { type Command, EXIT_FAILURE, UsageError } from '../command.ts';
import { print } from '../output.ts';
import { count, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';

export const move: Command = {
  usage: `urlwarden move --from DIR --to URL [--json]

Copies all data of a folder into a new, empty PostgreSQL database: URLs with their ids, accounts, keys, usage, feeds and
imports; then compares every row. Beside a running server too. What was cut off, or what a server has written meanwhile,
is done by the same command again; it ends when nobody else has the folder open, and only then can a server be started
on the database.

  --from DIR   folder of the data
  --to URL     postgres://USER:PASSWORD@HOST:PORT/DATABASE (or as variable URLWARDEN_DATABASE_URL: others see flags)
  --json       for programs: one JSON value instead of text
`,
  async run(args) {
    const { values } = parseArgs({
      args,
      options: { from: { type: 'string' }, to: { type: 'string' }, json: { type: 'boolean' } },
    });
    const dataDir = values.from;
    if (!dataDir) throw new UsageError('--from DIR is missing');
    const databaseUrl = readTarget(values.to ?? process.env.URLWARDEN_DATABASE_URL);
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
      await print(values.json ? `${JSON.stringify(report)}\n` : reportText(report, dataDir, databaseUrl));
      return 0;
    } catch (error) {
      if (!signal.aborted) throw error;
      progress.end();
      await print('Stopped. Start the same command again to go on.\n');
      return EXIT_FAILURE;
    } finally {
      progress.end();
      dispose();
    }
  },
};

function readTarget(text: string | undefined): string {
  const { read, accepts } = SETTINGS.databaseUrl;
  const url = text === undefined ? null : read(text);
  if (url === null) throw new UsageError(`--to must be ${accepts}`);
  return url;
}

function reportText({ rows, written, isFinished, seconds }: CopyReport, dataDir: string, databaseUrl: string): string {
  const all = Object.values(rows).reduce((sum, of) => sum + of, 0);
  return [
    `${count(all)} rows, ${count(rows.urls ?? 0)} URLs and ${count(rows.accounts ?? 0)} accounts among them, are the same in ${describePlace({ dataDir, databaseUrl })}.`,
    `${count(written)} of them were written now, in ${seconds.toFixed(1)} s.`,
    isFinished
      ? 'The move is finished. Start with: urlwarden serve --database-url …'
      : `A server still has ${dataDir} open: stop it, then give the same command again for what it has written meanwhile.`,
    '',
  ].join('\n');
}
