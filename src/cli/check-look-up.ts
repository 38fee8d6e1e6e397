import type { Intelligence } from '../app/stores.ts';
import {
  AuthenticationError,
  LimitReachedError,
  type LimitWait,
  TruncatedStreamError,
  UrlwardenClient,
  UrlwardenError,
} from '../client/index.ts';
import { CREDENTIAL_VARIABLES } from '../config/read-settings.ts';
import { AppError } from '../core/errors.ts';
import { networkReason } from '../ingest/sources/fetch-errors.ts';
import { urlKey } from '../urls/url-group.ts';
import type { Json } from '../urls/wire.ts';
import { UsageError } from './command.ts';
import { timeText } from './output.ts';
import { currentTs } from './time.ts';

/** A URL with the response of `url/last`; null: it is unknown. */
type Result = readonly [url: string, last: Json | null];

/** The results of URLs, in parts as they arrive, those of fresh URLs in their order. The URLs are normalized and distinct. */
export type LookUp = (urls: readonly string[], onWait: (wait: LimitWait) => void) => AsyncGenerator<readonly Result[]>;

/** URLs of one read: some milliseconds on SQLite, one statement on PostgreSQL. */
const BATCH_URLS = 500;

export const lookUpIn = (store: Intelligence): LookUp =>
  async function* (urls) {
    for (let at = 0; at < urls.length; at += BATCH_URLS) {
      const batch = urls.slice(at, at + BATCH_URLS);
      const results = await store.lastOfMany(batch, 'last');
      yield batch.map((url, i) => [url, (results[i] ?? null) as Json | null] as const);
    }
  };

/** Each distinct URL counts as one query of the account, however often it occurs in the run. */
export function lookUpAt(baseUrl: string): LookUp {
  const client = clientFor(baseUrl);
  const kept = createKeptResults(KEPT_MAX_BYTES);
  return async function* (urls, onWait) {
    const known: Result[] = [];
    const fresh: string[] = [];
    for (const url of urls) {
      const last = kept.get(url);
      if (last === undefined) fresh.push(url);
      else known.push([url, last]);
    }
    yield known;
    try {
      for await (const line of client.url.bulk(fresh, { onWait })) {
        if (line.error !== undefined)
          throw new AppError('unavailable', `The server refuses ${line.input}: ${line.error.message}`);
        const { n: _n, ref: _ref, input, found, ...rest } = line;
        const last = found ? (JSON.stringify(rest) as Json) : null;
        kept.set(input, last);
        yield [[input, last]];
      }
    } catch (error) {
      if (error instanceof UrlwardenError)
        throw new AppError('unavailable', failureText(error, baseUrl), { cause: error });
      throw error;
    }
  };
}

/** A million results of unknown URLs, or some 100,000 of known ones (docs/operating.md). */
const KEPT_MAX_BYTES = 100_000_000;
/** Of an entry without its result: its key and its place in the Map. Measured: 74 bytes, more while the Map grows. */
const ENTRY_BYTES = 100;

/** Results by URL, null for an unknown one. Those that were not needed for the longest time are dropped. */
export function createKeptResults(maxBytes: number) {
  const results = new Map<string, Json | null>();
  let bytes = 0;
  // Not the URL itself: it may be a part of a long line, which would stay in memory with it.
  const keyOf = (url: string) => Buffer.from(urlKey(url)).toString('latin1');
  const sizeOf = (last: Json | null) => ENTRY_BYTES + (last?.length ?? 0);
  return {
    /** Undefined if there is none. */
    get(url: string): Json | null | undefined {
      const key = keyOf(url);
      const last = results.get(key);
      if (last === undefined) return undefined;
      results.delete(key);
      results.set(key, last);
      return last;
    },
    set(url: string, last: Json | null): void {
      results.set(keyOf(url), last);
      bytes += sizeOf(last);
      for (const [oldest, dropped] of results) {
        if (bytes <= maxBytes) return;
        results.delete(oldest);
        bytes -= sizeOf(dropped);
      }
    },
  };
}

/** What the person who typed the command can do about it. */
export function failureText(error: UrlwardenError, baseUrl: string): string {
  const { host } = new URL(baseUrl);
  if (error instanceof AuthenticationError) return `${host} refused the login: check ${credentials()}`;
  // Their messages have the number of a line, counted within a request.
  if (error instanceof LimitReachedError && error.limit !== null) {
    const resetTs = currentTs() + Math.ceil(error.retryAfterSeconds ?? 0);
    return `The limit ${error.limit} is reached; it is reset at ${timeText(resetTs)}`;
  }
  if (error instanceof TruncatedStreamError) return `The response of ${host} ended too early: try again`;
  // `fetch` has the error of the network as its cause.
  const reason = networkReason((error.cause as Error | undefined)?.cause);
  return reason === null ? withFlag(error) : `${host} ${reason}`;
}

const { username: USERNAME, password: PASSWORD, token: TOKEN } = CREDENTIAL_VARIABLES;

const credentials = () => (process.env[TOKEN] ? TOKEN : `${USERNAME} and ${PASSWORD}`);

/** The client names its option. */
const withFlag = ({ message }: Error): string => message.replace('baseUrl', '--server');

function clientFor(baseUrl: string): UrlwardenClient {
  const [username, password, token] = [USERNAME, PASSWORD, TOKEN].map((name) => process.env[name]);
  try {
    if (token) return new UrlwardenClient({ baseUrl, token });
    if (username && password) return new UrlwardenClient({ baseUrl, username, password });
  } catch (error) {
    throw new UsageError(withFlag(error as Error));
  }
  throw new UsageError(`--server needs ${USERNAME} and ${PASSWORD}, or ${TOKEN}`);
}
