import assert from 'node:assert/strict';
import type { UrlHistoryResponse, UrlLastResponse } from '../../src/contract/url.ts';
import type { Store } from '../../src/store/store.ts';

// What the text says that a store answers with.

export async function lastOf(store: Pick<Store, 'urlLast'>, url: string): Promise<UrlLastResponse | null> {
  return parsed<UrlLastResponse>(await store.urlLast(url));
}

export async function historyOf(
  store: Pick<Store, 'urlHistory'>,
  url: string,
  limit = 100,
): Promise<UrlHistoryResponse | null> {
  return parsed<UrlHistoryResponse>(await store.urlHistory(url, limit));
}

/** The newest event under its own name: the last status tells `added` and `online` alike. */
export async function newestEventOf(store: Pick<Store, 'urlHistory'>, url: string) {
  return (await historyOf(store, url, 1))?.events[0];
}

function parsed<Answer>(text: string | null): Answer | null {
  if (text === null) return null;
  const answer: Answer = JSON.parse(text);
  assert.equal(text, JSON.stringify(answer), 'no space too many, no key twice');
  return answer;
}
