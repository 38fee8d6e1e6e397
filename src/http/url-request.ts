import type { FastifyRequest } from 'fastify';
import type { UrlRequest } from '../contract/url.ts';
import { AppError } from '../core/errors.ts';
import { normalizeUrl } from '../core/url.ts';
import { URL_ERRORS } from '../core/url-errors.ts';
import { isPlainUrl } from '../core/url-plain.ts';
import type { Store } from '../store/store.ts';

/** The URL that is asked for, in the form under which it is stored. */
export function normalUrlOf(request: FastifyRequest): string {
  return normalUrl((request.body as UrlRequest).url);
}

export function normalUrl(url: string): string {
  if (isPlainUrl(url)) return url;
  const normal = normalizeUrl(url);
  if (!normal.ok) throw new AppError('bad_request', `url: ${URL_ERRORS[normal.error]}`);
  return normal.url;
}

/** The path was checked before: see `hooks/known-path.ts`. */
export const idOf = (request: FastifyRequest): number => Number((request.params as { id: string }).id);

/** Nothing in the window is an empty answer, nothing at all is none. */
export async function refuseUnknownId(store: Store, id: number): Promise<void> {
  if (!(await store.hasUrl(id))) throw new AppError('not_found', 'This URLID is not known');
}
