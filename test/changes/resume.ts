import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Intelligence } from '../../src/app/stores.ts';
import { parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import { URL_SOURCE } from '../../src/reputation/store.ts';
import { listed } from '../reputation/contract/evidence.ts';
import { DAY, hashOf, NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';
import { ALL, feedOf, type Line } from './contract/reader.ts';

const T = NEW_YEAR;
const URLS = Array.from({ length: 40 }, (_, i) =>
  i % 4 === 0 ? `http://192.0.2.${i}/x` : `http://a${i}.host${i % 7}.example/`,
);
const ADDRESSES = ['198.51.100.1', '198.51.100.2', '203.0.113.0/24'];
const now = () => T + 2 * DAY;

/** Writes at random; every store may do it at the same time. */
export async function writeAtRandom(store: Intelligence, random: () => number, batches: number): Promise<void> {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  for (let batch = 0; batch < batches; batch++) {
    const ts = T + Math.floor(random() * DAY);
    if (random() < 0.2) await store.applyListings([listed(pick(ADDRESSES), { dataset: 'CSS', ts })]);
    await store.apply(
      Array.from({ length: 5 }, () => {
        const payload = random() < 0.3 && {
          payload: { sha256: hashOf(pick(['a', 'b', 'c'])), family: pick(['Mirai', 'Gafgyt']) },
        };
        return seen({ ts, url: pick(URLS), status: pick(['online', 'offline', null]), ...payload });
      }),
    );
  }
}

/** A reader that keeps its state and its cursor together, and is killed somewhere between two such states. */
export function createReader(store: Intelligence, random: () => number) {
  let saved = { cursor: 0, lines: new Map<string, Line>() };
  const numbers = new Set<number>();
  let resumes = 0;

  /** From the saved state until it is killed, or until nothing is new; returns whether something was. */
  async function run(): Promise<boolean> {
    resumes++;
    const stop = new AbortController();
    const pages = feedOf(store, now).lines(
      { after: saved.cursor, asked: ALL },
      1 + Math.floor(random() * 60),
      stop.signal,
    );
    const lines = new Map(saved.lines);
    const read: number[] = [];
    for await (const page of pages) {
      for (const text of page.trimEnd().split('\n')) {
        const line = JSON.parse(text) as Line;
        lines.set(`${line.kind} ${line.key}`, line);
        read.push(line.seq);
      }
      if (random() < 0.3) return true; // killed: what was read is not saved
    }
    for (const seq of read) {
      ok(!numbers.has(seq), 'nothing is read twice');
      ok(seq > saved.cursor, 'in order');
      numbers.add(seq);
    }
    saved = { cursor: Math.max(saved.cursor, ...read), lines };
    return read.length > 0;
  }

  return { run, resumes: () => resumes, lines: () => saved.lines };
}

/** The reader has what the store answers, and nothing else. */
export async function assertComplete(store: Intelligence, lines: ReadonlyMap<string, Line>): Promise<void> {
  const known = new Set<string>();
  for (const url of URLS) {
    const last = await lastOf(store, url);
    const line = lines.get(`url ${url}`);
    equal(line === undefined, last === null, url);
    if (last === null || line === undefined) continue;
    known.add(`url ${url}`);
    deepEqual(line.status, last.status, url);
    deepEqual(line.payload?.sha256_hash ?? null, last.payload?.sha256_hash ?? null, url);
    deepEqual(line.payload?.['malware-family'] ?? null, last.payload?.['malware-family'] ?? null, url);
  }
  for (const address of [...ADDRESSES, ...URLS.flatMap((url) => /192\.0\.2\.\d+/.exec(url) ?? [])]) {
    const network = parseKeyNetwork(address) ?? { ip: new Uint8Array(16), prefix: 0 };
    const query = { network, inside: false, covering: false, datasets: ALL.datasets, seenSinceTs: 0 };
    const newest = (await store.listings(query)).reduce((ts, { seenTs }) => Math.max(ts, seenTs), 0);
    const isDerived = address.startsWith('192.');
    const key = isDerived ? `XBL|${address}|${URL_SOURCE.name}||` : `CSS|${address}|feed||`;
    const line = lines.get(`listing ${key}`);
    equal(line === undefined, newest === 0, key);
    if (line === undefined) continue;
    known.add(`listing ${key}`);
    const behind = newest + (isDerived ? 7 : 3) * DAY - (line.valid_until ?? 0);
    ok(behind >= 0 && behind < 3_600, `${key} is ${behind} s behind`);
  }
  for (let i = 0; i < 7; i++) {
    const isKnown = (await store.domainState(`host${i}.example`)) !== null;
    equal(lines.has(`domain host${i}.example`), isKnown);
    if (isKnown) known.add(`domain host${i}.example`);
  }
  deepEqual(new Set(lines.keys()), known);
}

/** Random numbers that are the same in every run. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
