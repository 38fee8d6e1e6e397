import { type AppError, badRequest } from '../../core/errors.ts';
import type { ReputationStore } from '../../reputation/store.ts';
import type { UrlStore } from '../../urls/store.ts';
import { findFormat } from '../formats/formats.ts';
import { type ImportOptions, type ImportReport, runImport } from '../import.ts';
import { feedSource } from '../import-sources.ts';
import type { Networks } from '../networks.ts';
import { createDnsResolver, resolvingFormat } from '../resolve.ts';
import { type FetchLimits, openUrl, type Validators } from '../sources/fetch.ts';
import { createGuard } from '../sources/fetch-guard.ts';
import type { Format, InputLimits, Item } from '../sources/format.ts';
import type { Feed, FeedStore, ImportStore } from '../store.ts';
import type { FeedImportResult, ImportFeed } from './feed-run.ts';

export type FeedImportOptions = Pick<ImportOptions, 'families' | 'isForced' | 'onProgress' | 'onWaiting'> & {
  store: UrlStore & ReputationStore;
  control: ImportStore & Pick<FeedStore, 'feeds'>;
  networks: Networks;
  /** Private networks that feeds with `allowsPrivate` may be fetched from. */
  allowedNetworks: readonly string[];
  /** Resolve host names by DNS. */
  resolvesHosts: boolean;
  /** Accept evidence on reserved networks. */
  allowReserved: boolean;
  limits: InputLimits;
  /** For tests: shorter timeouts of the download. */
  fetchLimits?: Partial<FetchLimits>;
  now: () => number;
};

/** Downloads a feed if it has changed, and imports it while downloading. */
export function createImportFeed(options: FeedImportOptions): ImportFeed {
  return async (feed, signal) => {
    const format = findFormat(feed.format);
    if (format === null) throw unknownFormat(feed);
    const done = new AbortController(); // closes the download if the import ends early
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

const NO_VALIDATORS: Validators = { etag: null, lastModified: null };

async function fetchAndImport(
  feed: Feed,
  format: Format,
  signal: AbortSignal,
  options: FeedImportOptions,
): Promise<FeedImportResult> {
  const { store, control, networks, allowedNetworks, resolvesHosts, fetchLimits = {}, now, ...importOptions } = options;
  const guard = createGuard(feed.allowsPrivate ? allowedNetworks : []);
  const validators: Validators = isRenewed(feed, format) ? NO_VALIDATORS : feed;
  const source = await openUrl(feed.url, {
    guard,
    headers: feed.headers,
    validators,
    limits: fetchLimits,
    inputLimits: options.limits,
    signal,
  });
  if (source === 'not_modified') {
    // The trust of a feed that was removed and added again counts at once.
    if (format.hasEvidence) await store.putSources([feedSource(feed)]);
    return { outcome: 'not_modified' };
  }
  const report = await runImport({
    ...importOptions,
    format: inOwnName(resolvesHosts ? resolvingFormat(format, createDnsResolver()) : format),
    source,
    into: { store, control },
    feed: feed.name,
    nowTs: now,
    isComplete: feed.isComplete,
    dataset: feed.dataset,
    evidenceKind: feed.evidenceKind,
    listKind: feed.listKind,
    allowsEmptyList: true,
    adviseFormat: (name) => `Remove the feed and add it again with --format ${name}.`,
    lookupAsn: networks.asnOf,
    signal,
  });
  if (report.outcome === 'stopped') return { outcome: 'stopped' };
  refuseUseless(report);
  const { etag, lastModified } = source;
  return { outcome: 'imported', rows: report.read, validators: { etag, lastModified } };
}

/** Wraps a format: all evidence counts for the feed. Its publisher must not use the name, and the trust, of another source. */
function inOwnName(format: Format): Format {
  return {
    ...format,
    async *read(source, limits, options) {
      for await (const items of format.read(source, limits, options)) yield items.map(withoutSource);
    },
  };
}

function withoutSource(item: Item): Item {
  if (item.kind !== 'evidence') return item;
  return { ...item, inputs: item.inputs.map((input) => ({ ...input, source: undefined })) };
}

/**
 * Each fetch of a list without times is new evidence, also if the list is the same as before: otherwise its listings would
 * expire while it still names them. Entries of allow lists and others do not expire.
 */
function isRenewed({ listKind }: Feed, { hasNoTimes }: Format): boolean {
  return hasNoTimes === true && listKind === null;
}

function unknownFormat({ name, format }: Feed): AppError {
  return badRequest(`Unknown format ${JSON.stringify(format)}: remove the feed ${name} and add it again`);
}

/** Refuses a response that is not the expected data, such as a login page or a truncated listing. */
function refuseUseless({ outcome, error, rejected, id }: ImportReport): void {
  if (outcome === 'refused') throw badRequest(error ?? 'The complete listing was refused');
  if (outcome !== 'failed') return;
  const reasons = rejected > 0 ? ` Reasons: urlwarden import rejects ${id}` : '';
  throw badRequest(`${error} Check the URL, the key and the format.${reasons}`);
}
