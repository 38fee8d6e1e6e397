import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFAULT_FOLDER, dataDirOf, domainsDirOf, listingsDirOf } from '../shared/stores.ts';
import { bulk } from './bulk.ts';
import { cidr } from './cidr.ts';
import { growth } from './growth.ts';
import { type Bench, isReached, type Result, type Row } from './harness/figure.ts';
import { machine } from './harness/machine.ts';
import { tableOf } from './harness/table.ts';
import { importing } from './import.ts';
import { inProcess } from './in-process.ts';
import { lists } from './lists.ts';
import { history, last, lastAlone, unknown } from './lookups.ts';
import { peer } from './peer.ts';
import { address, addressImport, addressSize, domain, network } from './reputation.ts';
import { scaled } from './scaled.ts';
import { scaledImport } from './scaled-import.ts';
import { memory, start } from './start.ts';
import { streamEncodings, streamRow } from './stream.ts';
import { threads } from './threads.ts';

// npm run bench: all rows. npm run bench -- last stream: only these. Options: --rounds N, --seconds N, --data DIR, and
// --largest N, the number of URLs in the largest database (default 10 M).

/** All rows, in the order of the table. A new row is a file that exports a Row, and a line here. */
const ROWS: readonly Row[] = [
  last,
  lastAlone,
  unknown,
  bulk,
  threads,
  history,
  streamRow,
  streamEncodings,
  cidr,
  importing,
  growth,
  lists,
  start,
  memory,
  inProcess,
  address,
  network,
  domain,
  addressImport,
  addressSize,
  scaled,
  scaledImport,
  peer,
];

const OUTPUT = fileURLToPath(new URL('./results/latest.json', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    largest: { type: 'string', default: '10000000' },
    data: { type: 'string', default: DEFAULT_FOLDER },
  },
});
const log = (text: string) => void process.stderr.write(`${text}\n`);
const bench: Bench = {
  dataDir: (urls) => dataDirOf(values.data, urls, log),
  listingsDir: () => listingsDirOf(values.data, log),
  domainsDir: () => domainsDirOf(values.data, log),
  largest: Number(values.largest),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  log,
};

const names = ROWS.map(({ name }) => name);
const unknownNames = positionals.filter((name) => !names.includes(name));
if (unknownNames.length > 0) {
  log(`There is no row ${unknownNames.join(', ')}; the rows are ${names.join(', ')}.`);
  process.exit(2);
}

const before = machine();
const results: Result[] = [];
const failed: string[] = [];
for (const row of ROWS) {
  if (positionals.length > 0 && !positionals.includes(row.name)) continue;
  log(`measuring ${row.name}`);
  const startMs = performance.now();
  try {
    results.push(...(await row.measure(bench)));
  } catch (error) {
    // The results of the other rows, which took minutes, are not lost.
    log(`${row.name} failed: ${(error as Error).stack}`);
    failed.push(row.name);
    results.push({ name: row.name, missing: (error as Error).message });
  }
  log(`  ${Math.round((performance.now() - startMs) / 1000)} s`);
}
const after = machine();
process.stdout.write(`${tableOf(results)}\nLoad ${before.load} before, ${after.load} after. ${after.versions}\n`);
mkdirSync(dirname(OUTPUT), { recursive: true });
writeFileSync(OUTPUT, `${JSON.stringify({ before, after, bench: values, results }, null, 2)}\n`);
const isMissed = results.some((result) => !('missing' in result) && isReached(result) === false);
process.exitCode = isMissed || failed.length > 0 ? 1 : 0;
