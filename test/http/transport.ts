import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, setDefaultCACertificates } from 'node:tls';
import { makeTlsPair, type TlsFiles } from '../tls-pair.ts';

// Suites that use these functions run twice: over HTTP, and over HTTPS from a file that calls `useTls` before it loads them.

let pair: TlsFiles | null = null;

/** From now on, servers and clients of this process use TLS. */
export function useTls(): void {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-test-'));
  pair = makeTlsPair(folder, 'server');
  rmSync(folder, { recursive: true });
  setDefaultCACertificates([pair.cert]); // for `fetch`
}

/** The options of a server. */
export const transportOptions = () => (pair === null ? {} : { tls: pair });

/** The event of a server for a connection on which HTTP begins. */
export const connectionEvent = () => (pair === null ? 'connection' : 'secureConnection');

export const origin = (port: number): string => `${pair === null ? 'http' : 'https'}://127.0.0.1:${port}`;

/** The TCP socket below each TLS socket of a client. */
const below = new WeakMap<Socket, Socket>();

export function open(port: number, host = '127.0.0.1', options: { allowHalfOpen?: boolean } = {}): Socket {
  const tcp = connect({ host, port, ...options });
  if (pair === null) return tcp;
  const socket = connectTls({ socket: tcp, servername: 'localhost', ca: pair.cert, ...options });
  below.set(socket, tcp);
  return socket;
}

export function reset(socket: Socket): void {
  (below.get(socket) ?? socket).resetAndDestroy();
}
