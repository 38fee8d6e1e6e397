import type { IncomingMessage } from 'node:http';
import { AppError } from '../../core/errors.ts';
import { http } from '../../core/node-http.ts';
import { certificateRefusal } from '../../core/tls-errors.ts';

/** What to do if a response is too large. */
export const IN_PARTS = 'download the file and import it in parts';
const FROM_DISK = 'download the file and import it from disk';

/** Returns why a response cannot be imported, or null. Does not read the body. */
export function responseRefusal(host: string, response: IncomingMessage, maxBytes: number): AppError | null {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) return refusedStatus(host, statusCode, headers['retry-after']);
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    return new AppError(
      'body_too_large',
      `${host}: the response has ${headers['content-length']} bytes, more than the limit of ${maxBytes}; ${IN_PARTS}`,
    );
  }
  // RFC 9112 section 6.3: such a body ends with its connection, so a truncated body looks complete. For a complete
  // listing, the missing URLs would go offline.
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    return new AppError(
      'unavailable',
      `${host} sent neither Content-Length nor chunks, so a cut-off would go unnoticed: ${FROM_DISK}`,
    );
  }
  return refusedEncoding(host, headers['content-encoding']);
}

function refusedStatus(host: string, status: number, retryAfter: string | undefined): AppError {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  const message = `${host} responded with ${status} ${http.STATUS_CODES[status] ?? ''}`.trim();
  return new AppError(isGone(status) ? 'not_found' : 'unavailable', message + statusHint(status), {
    ...(seconds !== undefined && { retryAfterSeconds: seconds }),
  });
}

const isGone = (status: number) => status === 404 || status === 410;

function statusHint(status: number): string {
  if (status === 401 || status === 403) return ': check the key that is sent, and whether one is needed';
  if (isGone(status)) return ': check the URL';
  return status === 429 || status >= 500 ? ': try again later' : '';
}

/** None is requested. Some servers send `gzip` for a .gz file; it is unpacked like any gzip data. */
function refusedEncoding(host: string, encoding = 'identity'): AppError | null {
  if (['identity', 'gzip', 'x-gzip'].includes(encoding.trim().toLowerCase())) return null;
  return new AppError('unavailable', `${host} sent a Content-Encoding that is not supported: ${FROM_DISK}`);
}

const CLOSED = 'closed the connection before the end of the response: try again later';
const UNREACHABLE = 'cannot be reached from this machine: check the network and the firewall';

const NO_TLS = 'did not complete a TLS handshake: check the port, and whether the URL has to begin with http://';

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has no address: check the spelling of the host name',
  EAI_AGAIN: 'could not be resolved: the DNS server does not respond. Try again later',
  ECONNREFUSED: 'refused the connection: check the port, or try again later',
  ECONNRESET: CLOSED,
  ETIMEDOUT: 'did not accept a connection in time: check the firewall, or try again later',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EPIPE: CLOSED,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
};

/** Of the parser of Node: the port belongs to another service. */
const NOT_HTTP = 'sent something that is not HTTP: check the port, or try again later';

/** Converts an error to one that may be shown: messages of Node may contain addresses and headers. */
export function toFetchError(host: string, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof AppError) return error;
  if (signal.aborted) {
    const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
    return isTimeout
      ? new AppError('timed_out', `${host} did not send the whole response within the time limit: try again later`)
      : signal.reason;
  }
  const reason = networkReason(error);
  return reason === null ? error : new AppError('unavailable', `${host} ${reason}`, { cause: error });
}

/** What happened, to be read after the name of the host, and what to do; null if the error is none of the network. */
export function networkReason(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  return certificateRefusal(error) ?? REASONS[code] ?? otherReason(code);
}

function otherReason(code: string): string {
  return code.startsWith('HPE_') ? NOT_HTTP : `could not be fetched (${code}): try again later`;
}
