import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { LARGEST_FAMILY } from '../shared/observations.ts';
import { known, lookupMs } from './bulk.ts';
import { beside } from './harness/background.ts';
import { alternate, type Bench, type Figure, type Result, type Row } from './harness/figure.ts';
import { cpuSeconds, memoryMb, receive } from './harness/measure.ts';
import { type MonitoredServer, startMonitored } from './harness/servers.ts';

const ROWS = 1_000_000;
/** Of the row with encodings: those that `known` samples. */
const URLS = 1_000_000;
const SAMPLE_MS = 50;
const ENCODINGS = ['identity', 'gzip', 'zstd'] as const;
type Encoding = (typeof ENCODINGS)[number];
const run = promisify(execFile);

/** The same rows as the search, in the same order, from the same file. */
const SQL = `
  select p.ts, p.url_id as id, urls.url from payloads p join urls on urls.id = p.url_id
  where p.family_id = (select id from families where name = '${LARGEST_FAMILY}')
  order by p.ts desc, p.url_id desc, p.file_id desc limit ${ROWS}`;

/** `perCpuSecond`: rows per second of processor time, which other load on the machine changes least. */
type Rates = { perSecond: number; perCpuSecond: number };
type Streamed = Rates & { rows: number; bytes: number; delayMs: number; peakMb: number };

async function shell(path: string, rows: number): Promise<Rates> {
  const startMs = performance.now();
  const script = 'TIMEFORMAT="%U %S"; time sqlite3 -readonly -json "$0" "$1" > /dev/null';
  const { stderr } = await run('bash', ['-c', script, path, SQL]);
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return { perSecond: (rows / (performance.now() - startMs)) * 1000, perCpuSecond: rows / (user + system) };
}

const searchOf = ({ url, authorization }: MonitoredServer, encoding: Encoding) => ({
  url: `${url}${paths.urlSearch}?since=0&limit=${ROWS}`,
  headers: { authorization, 'accept-encoding': encoding },
  body: JSON.stringify({ malware_family: LARGEST_FAMILY }),
});

/** `rows`: of a compressed stream, whose lines are not counted. */
async function stream(server: MonitoredServer, encoding: Encoding = 'identity', rows?: number): Promise<Streamed> {
  const { child, delayMs } = server;
  await delayMs();
  let peakMb = 0;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, memoryMb(child.pid));
  }, SAMPLE_MS);
  const cpuBefore = cpuSeconds(child.pid);
  const startMs = performance.now();
  const { url, headers, body } = searchOf(server, encoding);
  const received = await receive(url, headers, body);
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = cpuSeconds(child.pid) - cpuBefore;
  clearInterval(sampler);
  const found = rows ?? received.lines;
  const rates = { perSecond: found / seconds, perCpuSecond: found / cpu };
  return { ...rates, rows: found, bytes: received.bytes, delayMs: await delayMs(), peakMb };
}

/** The p99 of lookups while streams are sent one after the other, in milliseconds. */
function lookupsBeside(server: MonitoredServer, encoding: Encoding, urls: readonly string[], seconds: number) {
  const { body, ...search } = searchOf(server, encoding);
  return beside({ ...search, bodies: [body], parallel: 1 }, () => lookupMs(server, urls, seconds));
}

/** Bytes, rows a second and lookups of one encoding; of a compressed one against the plain stream. */
async function encoded(server: MonitoredServer, encoding: Encoding, rows: number, bench: Bench): Promise<Result[]> {
  const { rounds, seconds } = bench;
  const urls = known();
  const beside: Figure = {
    name: `200 url/last a second beside a stream, ${encoding}, p99 / alone`,
    unit: 'ms',
    mark: null,
    ...(await alternate(
      rounds,
      () => lookupMs(server, urls, seconds),
      () => lookupsBeside(server, encoding, urls, seconds),
    )),
  };
  if (encoding === 'identity') return [beside];
  const { ours, yardstick } = await alternate(
    rounds,
    () => stream(server),
    () => stream(server, encoding, rows),
  );
  const compare = (name: string, unit: string, pick: (streamed: Streamed) => number): Figure => ({
    name: `stream, ${encoding}, ${name} / plain`,
    unit,
    ours: ours.map(pick),
    yardstick: yardstick.map(pick),
    mark: null,
  });
  return [
    compare('rows', 'rows/s', ({ perSecond }) => perSecond),
    compare('rows', 'rows/s of CPU', ({ perCpuSecond }) => perCpuSecond),
    { ...compare('bytes', 'MB', ({ bytes }) => bytes / 1e6), mark: { of: 'ratio', atMost: 0.3 } },
    beside,
  ];
}

/** A search that returns a million rows, or all rows if there are fewer. */
export const streamRow: Row = {
  name: 'stream',
  async measure({ dataDir, largest, rounds }: Bench): Promise<Result[]> {
    const folder = dataDir(largest);
    const server = await startMonitored(folder);
    try {
      const { rows } = await stream(server); // loads the file into the page cache, for both
      const results = await alternate<Rates>(
        rounds,
        () => shell(dataFiles(folder).intelligence, rows),
        () => stream(server),
      );
      const ours = results.ours as Streamed[];
      const compare = (unit: string, pick: (rates: Rates) => number): Figure => ({
        name: `search by family, ${rows.toLocaleString('en')} rows / sqlite3 shell`,
        unit,
        ours: ours.map(pick),
        yardstick: results.yardstick.map(pick),
        mark: { of: 'ratio', atLeast: 0.85 },
      });
      return [
        compare('rows/s', ({ perSecond }) => perSecond),
        compare('rows/s of CPU', ({ perCpuSecond }) => perCpuSecond),
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

/** Streams that are compressed, and lookups beside streams. */
export const streamEncodings: Row = {
  name: 'stream-encodings',
  async measure(bench: Bench): Promise<Result[]> {
    const server = await startMonitored(bench.dataDir(URLS));
    try {
      const { rows } = await stream(server);
      const results: Result[] = [];
      for (const encoding of ENCODINGS) results.push(...(await encoded(server, encoding, rows, bench)));
      return results;
    } finally {
      await server.stop();
    }
  },
};
