import assert from 'node:assert/strict';
import type { Intelligence } from '../../../src/app/stores.ts';
import { type Observation, type ObservationInput, toObservation } from '../../../src/core/observation.ts';
import type { TimeWindow } from '../../../src/core/time.ts';
import { parseSearchKey, type SearchKey, type SearchKeyName } from '../../../src/urls/search-key.ts';
import type { Fact } from '../../../src/urls/store.ts';

export const DAY = 86_400;
/** 2026-01-01T00:00:00Z */
export const NEW_YEAR = 1_767_225_600;
export const ALWAYS: TimeWindow = { since: 0, until: Number.MAX_SAFE_INTEGER };

export function seen(input: ObservationInput): Observation {
  const result = toObservation(input);
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.observation;
}

export function hashOf(digit: string): string {
  return digit.repeat(64);
}

export function searchKey(name: SearchKeyName, value: string | number): SearchKey {
  const result = parseSearchKey(name, value);
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.key;
}

export function bounds(limit = Number.POSITIVE_INFINITY, signal = new AbortController().signal) {
  return { limit, signal };
}

export async function collect<Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) {
    assert.ok(page.length > 0, 'a stream yields no empty page');
    items.push(...page);
  }
  return items;
}

/** Parses a page of a search. */
export function factsOf(lines: string): Fact[] {
  assert.ok(lines.endsWith('\n'), 'every line is complete');
  return lines
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Parses all pages of a search. */
export async function collectFacts(pages: AsyncIterable<string>): Promise<Fact[]> {
  const facts: Fact[] = [];
  for await (const lines of pages) facts.push(...factsOf(lines));
  return facts;
}

/** The facts that a search finds, as sorted `ts url`. */
export async function find(
  store: Intelligence,
  name: SearchKeyName,
  value: string | number,
  window = ALWAYS,
  limit?: number,
): Promise<string[]> {
  const facts = await collectFacts(store.search(searchKey(name, value), window, bounds(limit)));
  return facts.map(({ ts, url }) => `${ts} ${url}`).sort();
}
