import { percentDecoded } from '../core/text.ts';

/** At the beginning of the path. */
const DOUBLED = /^(https?:\/\/[^/?]+)?\/\//i;
/** The absolute form. */
const ABSOLUTE = /^https?:\/\//i;

/**
 * The request target as the router can read it.
 *
 * Some clients join a base URL that ends with a slash and a path that begins with one.
 *
 * A segment with an invalid percent escape is taken as it is. The router would respond with 404, which clients of the reputation
 * data read as "not listed": the endpoint must see the segment, and refuse it.
 *
 *     //api/intel/v1/limits          /api/intel/v1/limits
 *     http://a//api/intel/v1/limits  http://a/api/intel/v1/limits: the absolute form (RFC 9112 §3.2.2)
 *     /…/listed/live/%zz             /…/listed/live/%25zz: not an address
 *     *                              /*: the router takes the first character for a slash, so * would be the start page
 */
export function readableTarget(target: string): string {
  if (!target.startsWith('/') && !ABSOLUTE.test(target)) return `/${target}`;
  const single = target.startsWith('/') && target[1] !== '/' ? target : target.replace(DOUBLED, '$1/');
  const queryAt = single.indexOf('?');
  const path = queryAt === -1 ? single : single.slice(0, queryAt);
  if (!path.includes('%') || isDecodable(path)) return single;
  const segments = path.split('/').map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')));
  return segments.join('/') + single.slice(path.length);
}

const isDecodable = (text: string): boolean => percentDecoded(text) !== null;
