import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { GREATEST_FAMILY } from '../shared/observations.ts';
import { type Bench, type Figure, inTurns, type Result, type Row } from './harness/figure.ts';
import { countLines, memoryMb } from './harness/measure.ts';
import { startWatched, type Watched } from './harness/servers.ts';

const ROWS = 1_000_000;
const SAMPLE_MS = 50;
const run = promisify(execFile);

/** The rows of the search in its own order, from the same file. */
const SQL = `
  select p.ts, p.url_id as id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.family_id = (select id from families where name = '${GREATEST_FAMILY}')
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${ROWS}`;

type Streamed = { perSecond: number; rows: number; delayMs: number; highestMb: number };

async function shell(path: string, rows: number): Promise<number> {
  const startMs = performance.now();
  await run('bash', ['-c', 'sqlite3 -readonly -json "$0" "$1" > /dev/null', path, SQL]);
  return (rows / (performance.now() - startMs)) * 1000;
}

async function stream({ url, authorization, child, delayMs }: Watched): Promise<Streamed> {
  await delayMs();
  let highestMb = 0;
  const sampler = setInterval(() => {
    highestMb = Math.max(highestMb, memoryMb(child.pid));
  }, SAMPLE_MS);
  const startMs = performance.now();
  const body = { malware_family: GREATEST_FAMILY };
  const rows = await countLines(`${url}${paths.urlSearch}?since=0&limit=${ROWS}`, authorization, body);
  const seconds = (performance.now() - startMs) / 1000;
  clearInterval(sampler);
  return { perSecond: rows / seconds, rows, delayMs: await delayMs(), highestMb };
}

/** A search that gives a million rows, or as many as there are. */
export const streamRow: Row = {
  name: 'stream',
  async measure({ dataDir, largest, rounds }: Bench): Promise<Result[]> {
    const folder = dataDir(largest);
    const server = await startWatched(folder);
    try {
      const { rows } = await stream(server); // both find the file in the cache of the system
      const turns = await inTurns<Pick<Streamed, 'perSecond'>>(
        rounds,
        async () => ({ perSecond: await shell(dataFiles(folder).intelligence, rows) }),
        () => stream(server),
      );
      const ours = turns.ours as Streamed[];
      const rate: Figure = {
        name: `search by family, ${rows.toLocaleString('en')} rows / sqlite3 shell`,
        unit: 'rows/s',
        ours: ours.map(({ perSecond }) => perSecond),
        yardstick: turns.yardstick.map(({ perSecond }) => perSecond),
        mark: { of: 'ratio', atLeast: 0.6 },
      };
      return [
        rate,
        {
          yardstick: null,
          name: 'event-loop delay beside it, p99.9',
          unit: 'ms',
          ours: ours.map(({ delayMs }) => delayMs),
          mark: { of: 'ours', atMost: 10 },
        },
        {
          yardstick: null,
          name: 'anonymous memory during the stream',
          unit: 'MB',
          ours: ours.map(({ highestMb }) => highestMb),
          mark: { of: 'ours', atMost: 250 },
        },
      ];
    } finally {
      await server.stop();
    }
  },
};
