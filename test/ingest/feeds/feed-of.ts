import type { Feed } from '../../../src/ingest/store.ts';

/** A feed that never ran, with the given values. */
export function feedOf(values: Partial<Feed>): Feed {
  return {
    name: 'f',
    format: 'url-list',
    url: 'https://feeds.example/list',
    intervalSeconds: 300,
    headers: {},
    isComplete: false,
    isPaused: false,
    allowsPrivate: false,
    trustPermille: 900,
    lifeSeconds: null,
    dataset: null,
    evidenceKind: null,
    listKind: null,
    etag: null,
    lastModified: null,
    lastRunTs: null,
    lastSuccessTs: null,
    lastError: null,
    nextRunTs: 0,
    failures: 0,
    rows: null,
    ...values,
  };
}
