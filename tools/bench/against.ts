import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { paths } from '../../src/core/paths.ts';
import { LARGEST_FAMILY, unknownUrlAt, urlAt, urlsWithLongHistory } from '../shared/observations.ts';
import { logIn, operatorOf, PROGRAM, type ServerProcess, startServer } from '../shared/server-process.ts';
import { DEFAULT_FOLDER, dataDirOf } from '../shared/stores.ts';
import { urlhausDump } from '../shared/urlhaus-dump.ts';
import { alternate, type Figure } from './harness/figure.ts';
import { load } from './harness/load.ts';
import { machine } from './harness/machine.ts';
import { countLines } from './harness/measure.ts';
import { tableOf } from './harness/table.ts';
import { lookups, sample, warmUp } from './lookups.ts';

// npm run bench:against -- DIR [ROW…]: this checkout against another one, such as a worktree of the commit before, with
// its own node_modules. Both answer from the same data folder, and are measured alternately in one run.
// Options: --rounds N, --seconds N, --rows N (of an import), --data DIR.

const URLS = 1_000_000;
const STREAM_ROWS = 200_000;
/** A change may lose at most this much. */
const MARK = { of: 'ratio', atLeast: 0.95 } as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    rows: { type: 'string', default: '200000' },
    data: { type: 'string', default: DEFAULT_FOLDER },
  },
});
const [directory, ...names] = positionals;
if (directory === undefined) throw new Error('usage: npm run bench:against -- DIR [ROW…]');
const OTHER = join(resolve(directory), 'bin/urlwarden.js');
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

type Measure = (server: ServerProcess, authorization: string, seconds: number) => Promise<number>;

const lookup =
  (path: string, urls: string[], isRefused = false): Measure =>
  async ({ url }, authorization, forSeconds) =>
    (await load(url, lookups(path, authorization, urls, isRefused), forSeconds)).perSecond;

/** Rows per second of a search. */
const stream: Measure = async ({ url }, authorization) => {
  const startMs = performance.now();
  const target = `${url}${paths.urlSearch}?since=0&limit=${STREAM_ROWS}`;
  const rows = await countLines(target, authorization, { malware_family: LARGEST_FAMILY });
  return (rows / (performance.now() - startMs)) * 1000;
};

const SERVED: Record<string, () => Measure> = {
  last: () => lookup(paths.urlLast, sample(URLS, urlAt)),
  unknown: () => lookup(paths.urlLast, sample(URLS, unknownUrlAt), true),
  history: () => lookup(paths.urlHistory, [...urlsWithLongHistory(URLS)]),
  stream: () => stream,
};

/**
 * Each round starts both programs again, alternating which of them is first: two processes of one program differ by up to
 * eight percent for as long as they run, so a comparison of one process with one other would measure that.
 */
async function served(name: string, measure: Measure): Promise<Figure> {
  const dataDir = dataDirOf(values.data, URLS, (text) => process.stderr.write(`${text}\n`));
  const results: Record<'ours' | 'yardstick', number[]> = { ours: [], yardstick: [] };
  for (let round = 0; round < rounds; round++) {
    const sides = [
      { result: results.yardstick, program: OTHER },
      { result: results.ours, program: PROGRAM },
    ];
    for (const { result, program } of round % 2 === 0 ? sides : sides.toReversed()) {
      const server = await startServer(dataDir, { metricsPort: 0, program });
      try {
        const authorization = await logIn(server.url, operatorOf(dataDir));
        const run = (forSeconds: number) => measure(server, authorization, forSeconds);
        await warmUp(run);
        result.push(await run(seconds));
      } finally {
        await server.stop();
      }
    }
  }
  return { name, unit: '/s', ...results, mark: MARK };
}

async function imported(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-against-'));
  const rows = Number(values.rows);
  const dump = join(folder, 'dump.csv');
  const importBy = async (program: string) => {
    const dataDir = join(folder, 'data');
    const args = ['--max-semi-space-size=8', program, 'import', 'urlhaus-csv', dump, '--data', dataDir, '--json'];
    const startMs = performance.now();
    const { read } = JSON.parse(execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }).toString());
    const perSecond = (read / (performance.now() - startMs)) * 1000;
    rmSync(dataDir, { recursive: true });
    return perSecond;
  };
  try {
    writeFileSync(dump, Array.from(urlhausDump({ rows, seed: 1 })).join(''));
    const results = await alternate(
      rounds,
      () => importBy(OTHER),
      () => importBy(PROGRAM),
    );
    const name = `import of ${rows.toLocaleString('en')} rows`;
    return { name, unit: 'rows/s', ours: results.ours, yardstick: results.yardstick, mark: MARK };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const before = machine();
const figures: Figure[] = [];
for (const name of names.length > 0 ? names : [...Object.keys(SERVED), 'import']) {
  process.stderr.write(`measuring ${name}\n`);
  const measure = SERVED[name]?.();
  figures.push(measure === undefined ? await imported() : await served(name, measure));
}
process.stdout.write(`${tableOf(figures)}\nLoad ${before.load} before, ${machine().load} after. ${before.versions}\n`);
