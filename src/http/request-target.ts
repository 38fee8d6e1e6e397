/**
 * The request target as the router can read it.
 *
 * Some clients join a base URL that ends with a slash and a path that begins with one.
 *
 * A segment with an invalid percent escape is taken as it is. The router would answer 404, which clients of the reputation
 * data read as "not listed": the endpoint must see the segment, and refuse it.
 *
 *     //api/intel/v1/limits      /api/intel/v1/limits
 *     /…/listed/live/%zz         /…/listed/live/%25zz: not an address
 */
export function readableTarget(target: string): string {
  const single = target.startsWith('//') ? target.slice(1) : target;
  const question = single.indexOf('?');
  const path = question === -1 ? single : single.slice(0, question);
  if (!path.includes('%') || isDecodable(path)) return single;
  const segments = path.split('/').map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')));
  return segments.join('/') + single.slice(path.length);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
