import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureVersion, TLSSocket } from 'node:tls';
import { AppError } from '../core/errors.ts';

/** A certificate chain and its private key, each as the text of a PEM file. */
export type TlsPair = { cert: string; key: string };

/**
 * RFC 9325: no version before 1.2 (§3.1.1); in 1.2 only cipher suites with forward secrecy and authenticated encryption
 * (§4.2). Node's default also accepts suites without them.
 */
export const TLS_RULES: { minVersion: SecureVersion; ciphers: string } = {
  minVersion: 'TLSv1.2',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
};

/** Throws an error whose message names the faulty file. */
export function readTlsPair(certFile: string, keyFile: string): TlsPair {
  const pair = { cert: readText(certFile, 'certificate'), key: readText(keyFile, 'key') };
  checkPair({ cert: pair.cert }, certificateProblem(pair.cert, certFile));
  checkPair({ key: pair.key }, `${keyFile} contains no private key in PEM format without a passphrase`);
  checkPair(pair, `The key in ${keyFile} does not belong to the certificate in ${certFile}`);
  return pair;
}

/** OpenSSL also refuses keys and signatures that are too weak, such as RSA with 1,024 bits. */
function certificateProblem(cert: string, file: string): string {
  try {
    new X509Certificate(cert);
    return `The certificate in ${file} cannot be used`;
  } catch {
    return `${file} contains no certificate in PEM format`;
  }
}

/** When the certificate expires: the first one of its file, which is the one of the server. */
export function expiryOf({ cert }: TlsPair): Date {
  return new X509Certificate(cert).validToDate;
}

/** Why clients refuse the certificate at this time; null if it is valid. */
export function timeFaultOf({ cert }: TlsPair, nowMs: number): string | null {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  if (nowMs > Number(validToDate)) return `the certificate expired at ${validToDate.toISOString()}: clients refuse it`;
  if (nowMs >= Number(validFromDate)) return null;
  return `the certificate is not valid before ${validFromDate.toISOString()}: clients refuse it until then`;
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `The ${what} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function checkPair(pair: Partial<TlsPair>, message: string): void {
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new AppError('unavailable', `${message} (${(cause as Error).message})`, { cause });
  }
}

/** The TCP socket below each TLS socket. */
const below = new WeakMap<Socket, Socket>();

/** Closes a connection so that its client sees an error, not an end. Node can reset a TCP socket, not a TLS socket. */
export function resetConnection(socket: Socket): void {
  const tcp = below.get(socket) ?? socket;
  if (tcp instanceof TLSSocket) tcp.destroy();
  else tcp.resetAndDestroy();
}

/**
 * Returns a function that closes the connections whose TLS handshake is not complete. Node's `closeIdleConnections` and
 * `closeAllConnections` skip them, so a silent one would keep the server from closing until the handshake times out.
 */
export function trackHandshakes(server: Server): () => void {
  const pending = new Map<string, Socket>();
  server.on('connection', (socket) => {
    const key = addressesOf(socket);
    pending.set(key, socket);
    socket.once('close', () => pending.get(key) === socket && pending.delete(key));
  });
  server.on('secureConnection', (socket: Socket) => {
    const key = addressesOf(socket);
    const tcp = pending.get(key);
    if (tcp !== undefined) below.set(socket, tcp);
    pending.delete(key);
  });
  return () => {
    for (const socket of pending.values()) socket.destroy();
  };
}

/** A TLS socket does not expose the socket below it, but both have the same addresses. */
function addressesOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
