import type { Intelligence } from '../app/stores.ts';
import { AuthenticationError, UrlwardenClient, UrlwardenError } from '../client/index.ts';
import { CREDENTIAL_VARIABLES } from '../config/read-settings.ts';
import { AppError } from '../core/errors.ts';
import { networkReason } from '../ingest/sources/fetch-errors.ts';
import type { Json } from '../urls/wire.ts';
import { UsageError } from './command.ts';

/** The responses of `url/last` for those URLs that are known. The URLs are normalized and distinct. */
export type LookUp = (urls: readonly string[]) => Promise<Map<string, Json>>;

/** URLs of one read: some milliseconds on SQLite, one statement on PostgreSQL. */
const BATCH_URLS = 500;

export const lookUpIn =
  (store: Intelligence): LookUp =>
  async (urls) => {
    const found = new Map<string, Json>();
    for (let at = 0; at < urls.length; at += BATCH_URLS) {
      const batch = urls.slice(at, at + BATCH_URLS);
      const results = await store.lastOfMany(batch, 'last');
      for (const [i, url] of batch.entries()) {
        const last = results[i] ?? null;
        if (last !== null) found.set(url, last as Json);
      }
    }
    return found;
  };

/** Each distinct URL counts as one query of the account. */
export function lookUpAt(baseUrl: string): LookUp {
  const client = clientFor(baseUrl);
  return async (urls) => {
    const found = new Map<string, Json>();
    try {
      for await (const line of client.url.bulk(urls)) {
        if (line.error !== undefined)
          throw new AppError('unavailable', `The server refuses ${line.input}: ${line.error.message}`);
        const { n: _n, ref: _ref, input, found: isFound, ...last } = line;
        if (isFound) found.set(input, JSON.stringify(last) as Json);
      }
    } catch (error) {
      if (error instanceof UrlwardenError)
        throw new AppError('unavailable', failureText(error, baseUrl), { cause: error });
      throw error;
    }
    return found;
  };
}

/** What the person who typed the command can do about it. */
export function failureText(error: UrlwardenError, baseUrl: string): string {
  const { host } = new URL(baseUrl);
  if (error instanceof AuthenticationError) return `${host} refused the login: check ${credentials()}`;
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
