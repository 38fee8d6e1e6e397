import { AppError } from '../../core/errors.ts';
import type { UrlStore } from '../../urls/store.ts';
import { findFormat } from '../formats/formats.ts';
import { runImport } from '../import.ts';
import type { Networks } from '../networks.ts';
import type { ImportProgress, ImportReport } from '../report.ts';
import { createDnsResolver, resolvingFormat } from '../resolve.ts';
import { openUrl, type Validators } from '../sources/fetch.ts';
import { createGuard } from '../sources/fetch-guard.ts';
import type { Format, InputLimits } from '../sources/format.ts';
import type { Feed, ImportStore } from '../store.ts';
import type { FeedResult, RunFeed } from './feed-run.ts';

export type FeedImportOptions = {
  store: UrlStore;
  control: ImportStore;
  networks: Networks;
  /** Networks of mirrors that feeds marked for it may lie in. */
  allowedNetworks: readonly string[];
  /** Look up hosts by DNS. */
  resolvesHosts: boolean;
  limits: InputLimits;
  now: () => number;
  /** Apply a complete listing even when it looks wrong. */
  isForced?: boolean;
  onProgress?: (progress: ImportProgress) => void;
};

/** Downloads what is new of a feed and imports it on the way. */
export function createRunFeed(options: FeedImportOptions): RunFeed {
  return async (feed, signal) => {
    const format = findFormat(feed.format);
    if (format === null) throw new AppError('bad_request', `There is no format ${JSON.stringify(feed.format)}`);
    const done = new AbortController(); // an import that ends early leaves nothing open
    try {
      return await fetchAndImport(feed, format, AbortSignal.any([signal, done.signal]), options);
    } catch (error) {
      if (signal.aborted) return { outcome: 'stopped' };
      throw error;
    } finally {
      done.abort();
    }
  };
}

async function fetchAndImport(
  feed: Feed,
  format: Format,
  signal: AbortSignal,
  options: FeedImportOptions,
): Promise<FeedResult> {
  const {
    store,
    control,
    networks,
    allowedNetworks,
    resolvesHosts,
    limits,
    now,
    isForced = false,
    onProgress,
  } = options;
  const guard = createGuard(feed.allowsPrivate ? allowedNetworks : []);
  const known: Validators = { etag: feed.etag, lastModified: feed.lastModified };
  const source = await openUrl(feed.url, {
    guard,
    headers: feed.headers,
    validators: known,
    inputLimits: limits,
    signal,
  });
  if (source === 'not_modified') return { outcome: 'not_modified' };
  const report = await runImport({
    format: resolvesHosts ? resolvingFormat(format, createDnsResolver()) : format,
    source,
    into: { store, control },
    feed: feed.name,
    limits,
    nowTs: now,
    isComplete: feed.isComplete,
    isForced,
    lookupAsn: networks.asnOf,
    signal,
    ...(onProgress && { onProgress }),
  });
  if (report.outcome === 'stopped') return { outcome: 'stopped' };
  refuseUseless(report);
  const { etag, lastModified } = source;
  return { outcome: 'imported', rows: report.read, validators: { etag, lastModified } };
}

/** An answer that was read, but is not what the feed should be: a page that asks to log in, half of a listing. */
function refuseUseless({ outcome, error, read, rejected, id }: ImportReport): void {
  if (outcome === 'refused') throw new AppError('bad_request', error ?? 'The complete listing was refused');
  if (read === 0 || rejected < read) return;
  throw new AppError('bad_request', `None of its ${read} rows could be used: see urlwarden import rejects ${id}`);
}
