import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { LARGEST_FAMILY } from '../shared/observations.ts';
import { alternate, type Bench, type Figure, type Result, type Row } from './harness/figure.ts';
import { countLines, memoryMb } from './harness/measure.ts';
import { type MonitoredServer, startMonitored } from './harness/servers.ts';

const ROWS = 1_000_000;
const SAMPLE_MS = 50;
const run = promisify(execFile);

/** The same rows as the search, in the same order, from the same file. */
const SQL = `
  select p.ts, p.url_id as id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.family_id = (select id from families where name = '${LARGEST_FAMILY}')
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${ROWS}`;

type Streamed = { perSecond: number; rows: number; delayMs: number; peakMb: number };

async function shell(path: string, rows: number): Promise<number> {
  const startMs = performance.now();
  await run('bash', ['-c', 'sqlite3 -readonly -json "$0" "$1" > /dev/null', path, SQL]);
  return (rows / (performance.now() - startMs)) * 1000;
}

async function stream({ url, authorization, child, delayMs }: MonitoredServer): Promise<Streamed> {
  await delayMs();
  let peakMb = 0;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, memoryMb(child.pid));
  }, SAMPLE_MS);
  const startMs = performance.now();
  const body = { malware_family: LARGEST_FAMILY };
  const rows = await countLines(`${url}${paths.urlSearch}?since=0&limit=${ROWS}`, authorization, body);
  const seconds = (performance.now() - startMs) / 1000;
  clearInterval(sampler);
  return { perSecond: rows / seconds, rows, delayMs: await delayMs(), peakMb };
}

/** A search that returns a million rows, or all rows if there are fewer. */
export const streamRow: Row = {
  name: 'stream',
  async measure({ dataDir, largest, rounds }: Bench): Promise<Result[]> {
    const folder = dataDir(largest);
    const server = await startMonitored(folder);
    try {
      const { rows } = await stream(server); // loads the file into the page cache, for both
      const results = await alternate<Pick<Streamed, 'perSecond'>>(
        rounds,
        async () => ({ perSecond: await shell(dataFiles(folder).intelligence, rows) }),
        () => stream(server),
      );
      const ours = results.ours as Streamed[];
      const rate: Figure = {
        name: `search by family, ${rows.toLocaleString('en')} rows / sqlite3 shell`,
        unit: 'rows/s',
        ours: ours.map(({ perSecond }) => perSecond),
        yardstick: results.yardstick.map(({ perSecond }) => perSecond),
        mark: { of: 'ratio', atLeast: 0.6 },
      };
      return [
        rate,
        {
          yardstick: null,
          name: 'event-loop delay during the stream, p99.9',
          unit: 'ms',
          ours: ours.map(({ delayMs }) => delayMs),
          mark: { of: 'ours', atMost: 10 },
        },
        {
          yardstick: null,
          name: 'anonymous memory during the stream',
          unit: 'MB',
          ours: ours.map(({ peakMb }) => peakMb),
          mark: { of: 'ours', atMost: 250 },
        },
      ];
    } finally {
      await server.stop();
    }
  },
};
