import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureVersion } from 'node:tls';
import { AppError } from '../core/errors.ts';

/** A certificate, with those that lead to its root, and its key: the texts of two PEM files. */
export type TlsPair = { cert: string; key: string };

/** RFC 9325 section 3.1.1: nothing older. */
export const MIN_TLS_VERSION: SecureVersion = 'TLSv1.2';

/** Throws a sentence that says which file is wrong. */
export function readTlsPair(certFile: string, keyFile: string): TlsPair {
  const pair = { cert: readText(certFile, 'certificate'), key: readText(keyFile, 'key') };
  tryOut({ cert: pair.cert }, `${certFile} holds no certificate in PEM form`);
  tryOut({ key: pair.key }, `${keyFile} holds no private key in PEM form without a passphrase`);
  tryOut(pair, `The key in ${keyFile} is not the one of the certificate in ${certFile}`);
  return pair;
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('unavailable', `The ${what} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function tryOut(pair: Partial<TlsPair>, complaint: string): void {
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new AppError('unavailable', `${complaint} (${(cause as Error).message})`, { cause });
  }
}

/**
 * Ends the connections whose handshake is not done. They are nothing to Node's closing: it neither takes them for idle
 * nor for connections, and one that says nothing would keep a server from closing until its time is over.
 */
export function trackHandshakes(server: Server): () => void {
  const open = new Map<string, Socket>();
  server.on('connection', (socket) => {
    const key = endsOf(socket);
    open.set(key, socket);
    socket.once('close', () => open.get(key) === socket && open.delete(key));
  });
  server.on('secureConnection', (socket: Socket) => open.delete(endsOf(socket)));
  return () => {
    for (const socket of open.values()) socket.destroy();
  };
}

/** The socket below a TLS socket cannot be had from it, but both name the same two ends. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
