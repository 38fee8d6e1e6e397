import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { AppError } from '../../core/errors.ts';

/** What is wrong with an answer that is no file to read; null when nothing is. The body stays unread. */
export function responseRefusal(host: string, response: IncomingMessage, maxBytes: number): AppError | null {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) return refusedStatus(host, statusCode, headers['retry-after']);
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    return new AppError(
      'body_too_large',
      `${host} announces ${headers['content-length']} bytes, more than ${maxBytes}`,
    );
  }
  // RFC 9112 section 6.3: such a body ends with its connection, so that a cut-off looks like the end. Of a complete
  // listing the rest would be taken for offline.
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    return new AppError('unavailable', `${host} does not say where its answer ends, so it cannot be told from a part`);
  }
  return refusedEncoding(host, headers['content-encoding']);
}

function refusedStatus(host: string, status: number, retryAfter: string | undefined): AppError {
  const hint = status === 401 || status === 403 ? ': look at the key that is sent, and whether one is needed' : '';
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  return new AppError('unavailable', `${host} answered ${status} ${STATUS_CODES[status] ?? ''}`.trim() + hint, {
    ...(seconds !== undefined && { retryAfterSeconds: seconds }),
  });
}

/** We ask for none. Some servers say gzip of a file that is one: it is unpacked as such. */
function refusedEncoding(host: string, encoding = 'identity'): AppError | null {
  if (['identity', 'gzip', 'x-gzip'].includes(encoding.trim().toLowerCase())) return null;
  return new AppError('unavailable', `${host} sends an encoding that was not asked for`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has no address: the name is mistyped, or the name server does not know it',
  EAI_AGAIN: 'could not be looked up: the name server does not answer',
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'broke the connection off',
  ETIMEDOUT: 'cannot be connected to in time',
  EHOSTUNREACH: 'cannot be reached from here',
  ENETUNREACH: 'cannot be reached from here',
  EPIPE: 'broke the connection off',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate of another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that nobody has signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an authority that is not trusted here',
};

/** In words that may be shown: messages of Node may have addresses and headers in them. */
export function explainFailure(host: string, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof AppError) return error;
  if (signal.aborted) {
    const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
    return isTimeout ? new AppError('timed_out', `${host} took too long for the whole`) : signal.reason;
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  return new AppError('unavailable', `${host} ${REASONS[code] ?? `cannot be fetched from (${code})`}`, {
    cause: error,
  });
}
