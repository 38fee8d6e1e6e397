import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dice } from '../../src/core/dice.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { type Schema, Type } from '../../src/http/schema.ts';
import { addressList, domainAt, LISTINGS, listedAddressAt, subnetAt } from '../shared/evidence.ts';
import { PROGRAM } from '../shared/server-process.ts';
import { alternate, type Bench, type Figure, type Row } from './harness/figure.ts';
import { load, type Requests } from './harness/load.ts';
import { startUrlwarden, startYardstick } from './harness/servers.ts';
import { programFlags } from './import.ts';
import { warmUp } from './lookups.ts';

const CIDR = '/api/intel/v1/byobject/cidr/:dataset/:mode/:type/:ip';
const DOMAIN = '/api/intel/v2/byobject/domain/:domain';

/** The generated addresses are private. */
const ALLOW_RESERVED = ['--allow-reserved'];

/** More than a round requests, so that no query is repeated in a round, unless there are fewer different ones. */
const SAMPLES = 200_000;
const SEED = 7;

const Listing = Type.Object({
  ipaddress: Type.String(),
  dataset: Type.String(),
  listed: Type.Integer(),
  seen: Type.Integer(),
  valid_until: Type.Integer(),
  botname: Type.Optional(Type.String()),
  rule: Type.Optional(Type.String()),
  heuristic: Type.Optional(Type.String()),
});
const Listings = Type.Object({ code: Type.Integer(), results: Type.Array(Listing) });
const Domain = Type.Object({
  domain: Type.String(),
  'last-seen': Type.Integer(),
  tags: Type.Array(Type.String()),
  abused: Type.Boolean(),
  whois: Type.Object({
    created: Type.Optional(Type.Integer()),
    expires: Type.Optional(Type.Integer()),
    registrar: Type.Optional(Type.String()),
  }),
  score: Type.Number(),
});

type Query = {
  name: string;
  /** Of the bare route. */
  path: string;
  response: Schema;
  pathAt(i: number): string;
  /** Throws when the response is not what the row is about. */
  check(body: never): void;
  atLeast: number;
};

function sample(pathAt: (i: number) => string): string[] {
  const roll = dice(SEED);
  return Array.from({ length: SAMPLES }, () => pathAt(roll(LISTINGS)));
}

/** Compares our server with a bare Fastify route that always returns our first response. */
async function compare({ rounds, seconds }: Bench, dataDir: string, query: Query): Promise<Figure> {
  const ours = await startUrlwarden(dataDir, [], ALLOW_RESERVED);
  try {
    const { name, path, response, pathAt, check, atLeast } = query;
    const headers = { authorization: ours.authorization };
    const requests: Requests = { method: 'GET', headers, paths: sample(pathAt), bodies: [], isRefused: false };
    const first = await fetch(ours.url + pathAt(0), { headers });
    const body = (await first.json()) as never;
    if (first.status !== 200) throw new Error(`${pathAt(0)} returned ${JSON.stringify(body)}`);
    check(body);
    const yardstick = await startYardstick({ engine: 'fastify', path, request: null, response, status: 200, body });
    try {
      const loadYardstick = (forSeconds = seconds) => load(yardstick.url, requests, forSeconds);
      const loadOurs = (forSeconds = seconds) => load(ours.url, requests, forSeconds);
      await warmUp(loadYardstick, loadOurs);
      const measured = await alternate(
        rounds,
        () => loadYardstick(),
        () => loadOurs(),
      );
      const rates = (results: { perSecond: number }[]) => results.map(({ perSecond }) => perSecond);
      const mark = { of: 'ratio', atLeast } as const;
      return { name, unit: '/s', ours: rates(measured.ours), yardstick: rates(measured.yardstick), mark };
    } finally {
      await yardstick.stop();
    }
  } finally {
    await ours.stop();
  }
}

function checkResults(count: number) {
  return ({ results }: { results: unknown[] }) => {
    if (results.length !== count) throw new Error(`${results.length} results, not ${count}`);
  };
}

export const address: Row = {
  name: 'address',
  async measure(bench) {
    const query: Query = {
      name: `one listed address of ${LISTINGS.toLocaleString('en')} / bare Fastify`,
      path: CIDR,
      response: Listings,
      pathAt: (i) => `/api/intel/v1/byobject/cidr/XBL/listed/live/${listedAddressAt(i)}`,
      check: checkResults(1),
      atLeast: 0.8,
    };
    return [await compare(bench, await bench.listingsDir(), query)];
  },
};

export const network: Row = {
  name: 'network',
  async measure(bench) {
    const query: Query = {
      name: 'a /24 with 50 listed addresses / bare Fastify',
      path: `${CIDR}/:mask`,
      response: Listings,
      pathAt: (i) => `/api/intel/v1/byobject/cidr/XBL/listed/live/${subnetAt(i)}/24`,
      check: checkResults(50),
      atLeast: 0.5,
    };
    return [await compare(bench, await bench.listingsDir(), query)];
  },
};

export const domain: Row = {
  name: 'domain',
  async measure(bench) {
    const query: Query = {
      name: 'a domain with 2,000 URLs / bare Fastify',
      path: DOMAIN,
      response: Domain,
      pathAt: (i) => `/api/intel/v2/byobject/domain/${domainAt(i)}`,
      check({ tags }: { tags: string[] }) {
        if (!tags.includes('malware')) throw new Error('the domain is not known for malware');
      },
      atLeast: 0.5,
    };
    return [await compare(bench, await bench.domainsDir(), query)];
  },
};

const LINES = 500_000;
const MB = 1_000_000;

export const addressImport: Row = {
  name: 'address-import',
  async measure({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), 'urlwarden-bench-addresses-'));
    try {
      const file = join(folder, 'addresses.txt');
      await writeFile(file, addressList(LINES));
      const ours = Array.from({ length: rounds }, () => LINES / importSeconds(file, join(folder, 'data')));
      const name = `import of an address list, ${LINES.toLocaleString('en')} lines`;
      return [{ name, unit: 'lines/s', ours, yardstick: null, mark: { of: 'ours', atLeast: 30_000 } }];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The whole command, into an empty folder. */
function importSeconds(file: string, dataDir: string): number {
  const flags = ['--dataset', 'XBL', '--feed', 'bench', ...ALLOW_RESERVED, '--data', dataDir, '--json'];
  const startedMs = performance.now();
  const args = [PROGRAM, 'import', 'ip-list', file, ...flags];
  const output = execFileSync(process.execPath, [...programFlags(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const seconds = (performance.now() - startedMs) / 1000;
  rmSync(dataDir, { recursive: true });
  const { read, rejected } = JSON.parse(output.toString());
  if (read !== LINES || rejected !== 0) throw new Error(`read ${read} lines of ${LINES}, ${rejected} were rejected`);
  return seconds;
}

export const addressSize: Row = {
  name: 'address-size',
  async measure({ listingsDir }) {
    const { size } = statSync(dataFiles(await listingsDir()).intelligence);
    const name = `database with ${LISTINGS.toLocaleString('en')} listings`;
    return [{ name, unit: 'MB', ours: [size / MB], yardstick: null, mark: { of: 'ours', atMost: 250 } }];
  },
};
