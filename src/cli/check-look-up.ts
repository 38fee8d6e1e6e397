import type { Intelligence } from '../app/stores.ts';
import { UrlwardenClient, UrlwardenError } from '../client/index.ts';
import { CREDENTIAL_VARIABLES } from '../config/read-settings.ts';
import { AppError } from '../core/errors.ts';
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
      if (error instanceof UrlwardenError) throw new AppError('unavailable', withFlag(error), { cause: error });
      throw error;
    }
    return found;
  };
}

/** The client names its option. */
const withFlag = ({ message }: Error): string => message.replace('baseUrl', '--server');

function clientFor(baseUrl: string): UrlwardenClient {
  const { username: userVariable, password: passwordVariable, token: tokenVariable } = CREDENTIAL_VARIABLES;
  const [username, password, token] = [userVariable, passwordVariable, tokenVariable].map((name) => process.env[name]);
  try {
    if (token) return new UrlwardenClient({ baseUrl, token });
    if (username && password) return new UrlwardenClient({ baseUrl, username, password });
  } catch (error) {
    throw new UsageError(withFlag(error as Error));
  }
  throw new UsageError(`--server needs ${userVariable} and ${passwordVariable}, or ${tokenVariable}`);
}
