import assert from 'node:assert/strict';
import type { Intelligence } from '../../src/app/stores.ts';
import type { UrlHistoryResponse, UrlLastResponse } from '../../src/urls/schemas.ts';

// Parses the JSON that a store returns.

export async function lastOf(store: Pick<Intelligence, 'urlLast'>, url: string): Promise<UrlLastResponse | null> {
  return parsed<UrlLastResponse>(await store.urlLast(url));
}

export async function historyOf(
  store: Pick<Intelligence, 'urlHistory'>,
  url: string,
  limit = 100,
): Promise<UrlHistoryResponse | null> {
  return parsed<UrlHistoryResponse>(await store.urlHistory(url, limit));
}

/** The newest event with its kind: the last status is `online` for both `added` and `online`. */
export async function newestEventOf(store: Pick<Intelligence, 'urlHistory'>, url: string) {
  return (await historyOf(store, url, 1))?.events[0];
}

function parsed<Result>(text: string | null): Result | null {
  if (text === null) return null;
  const result: Result = JSON.parse(text);
  assert.equal(text, JSON.stringify(result), 'no extra space, no duplicate key');
  return result;
}
