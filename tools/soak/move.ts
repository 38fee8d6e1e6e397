import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatIp } from '../../src/core/ip/address.ts';
import { paths } from '../../src/core/paths.ts';
import type { CopyReport } from '../../src/database/copy.ts';
import { startPostgres } from '../../test/servers/postgres.ts';
import { observationsAt } from '../shared/observations.ts';
import { logIn, operatorOf, PROGRAM, type ServerProcess, startServer } from '../shared/server-process.ts';
import { DEFAULT_FOLDER, dataDirOf } from '../shared/stores.ts';

type MoveSoakResult = {
  rows: number;
  /** The first move that was not interrupted. */
  moveSeconds: number;
  /** The last move, which finds almost all rows in the target. */
  againSeconds: number;
  isFinished: boolean;
  sameExport: boolean;
  requests: number;
  /** Requests with different responses from the two servers. */
  differences: string[];
};

const INTERRUPT_AFTER_MS = 3_000;
const CONCURRENT_REQUESTS = 8;
const SEARCH = `${paths.urlSearch}?since=0`;

/**
 * Moves a store to PostgreSQL while its server runs; the first move is interrupted. Then servers on both stores get the
 * same requests.
 */
export async function moveSoak(urls: number, requests: number, log: (text: string) => void): Promise<MoveSoakResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-move-'));
  const postgres = await startPostgres();
  const servers: ServerProcess[] = [];
  try {
    const dataDir = join(folder, 'data');
    cpSync(dataDirOf(DEFAULT_FOLDER, urls, log), dataDir, { recursive: true });
    const args = ['move', '--from', dataDir, '--to', postgres.url, '--json'];
    const running = await startServer(dataDir);
    await interrupt(args);
    log('the first move was interrupted');
    const first: CopyReport = JSON.parse(await outputOf(args));
    await running.stop();
    const last: CopyReport = JSON.parse(await outputOf(args));
    log(`moved in ${first.seconds.toFixed(1)} s, repeated in ${last.seconds.toFixed(1)} s`);
    const exports = [await checksum(['--data', dataDir]), await checksum(['--database-url', postgres.url])];
    log('exported both stores');
    servers.push(await startServer(dataDir));
    servers.push(await startServer(join(folder, 'empty'), { args: ['--database-url', postgres.url] }));
    const authorization = await logIn(servers[0]?.url ?? '', operatorOf(dataDir));
    return {
      rows: Object.values(last.rows).reduce((sum, count) => sum + count, 0),
      moveSeconds: first.seconds,
      againSeconds: last.seconds,
      isFinished: last.isFinished && !first.isFinished,
      sameExport: exports[0] === exports[1],
      requests,
      differences: await compare(
        servers.map(({ url }) => url),
        authorization,
        { urls, requests },
      ),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
    postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function interrupt(args: string[]): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await sleep(INTERRUPT_AFTER_MS);
  child.kill('SIGKILL');
  await ended;
}

async function outputOf(args: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return text;
}

async function checksum(place: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, 'export', ...place], { stdio: ['ignore', 'pipe', 'inherit'] });
  const hash = createHash('sha256');
  for await (const chunk of child.stdout) hash.update(chunk);
  return hash.digest('hex');
}

type LookupRequest = { path: string; body?: object };

type Sample = { urls: number; requests: number };

async function compare(servers: string[], authorization: string, { urls, requests }: Sample): Promise<string[]> {
  const differences: string[] = [];
  let next = 0;
  const sendAll = async () => {
    while (next < requests) {
      const request = requestAt(next++, urls);
      const responses = await Promise.all(servers.map((url) => responseTo(url, authorization, request)));
      if (responses[0] !== responses[1]) differences.push(JSON.stringify(request));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, sendAll));
  return differences;
}

/** Requests of all kinds, for URLs over the whole range. */
function requestAt(n: number, urls: number): LookupRequest {
  const i = Math.imul(n, 0x9e3779b1) >>> 0;
  const { url, host, addresses, payload } = observationsAt({ i: i % urls, urls })[0] ?? {};
  const ip = addresses?.[0]?.ip ?? new Uint8Array();
  switch (n % 8) {
    case 0:
      return { path: paths.urlId, body: { url } };
    case 1:
      return { path: paths.urlHistory, body: { url } };
    case 2:
      return { path: SEARCH, body: { host } };
    case 3:
      return { path: SEARCH, body: payload ? { sha256: payload.sha256 } : { host } };
    case 4:
      return { path: SEARCH, body: { ip: formatIp(ip) } };
    case 5:
      return { path: paths.urlStatuses.replace(':id', String(1 + (i % urls))) };
    case 6:
      return { path: paths.urlPayloads.replace(':id', String(1 + (i % urls))) };
    default:
      return { path: paths.urlLast, body: { url } };
  }
}

/** Sorted, because the lines of a search may be in any order. */
async function responseTo(url: string, authorization: string, { path, body }: LookupRequest): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(url + path, {
    method,
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return `${response.status} ${text.split('\n').sort().join('\n')}`;
}
