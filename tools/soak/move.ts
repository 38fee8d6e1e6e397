import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatIp } from '../../src/core/ip/address.ts';
import { paths } from '../../src/core/paths.ts';
import type { CopyReport } from '../../src/database/copy.ts';
import { startPostgres } from '../../test/servers/postgres.ts';
import { observationsAt } from '../shared/observations.ts';
import { logIn, operatorOf, type ServerProcess, startServer } from '../shared/server-process.ts';
import { DEFAULT_FOLDER, dataDirOf } from '../shared/stores.ts';

export type MoveSoakResult = {
  rows: number;
  /** Of the first move that was not cut off. */
  moveSeconds: number;
  /** Of the last one, which finds almost everything there. */
  againSeconds: number;
  isFinished: boolean;
  sameExport: boolean;
  answers: number;
  /** Questions that the two servers answered differently. */
  differences: string[];
};

const PROGRAM = fileURLToPath(new URL('../../bin/urlwarden.js', import.meta.url));
const CUT_OFF_MS = 3_000;
const ASKED_AT_ONCE = 8;
const SEARCH = `${paths.urlSearch}?since=0`;

/** A store of so many URLs into PostgreSQL, beside its server and cut off once; then both answer the same questions. */
export async function moveSoak(urls: number, questions: number, say: (text: string) => void): Promise<MoveSoakResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-move-'));
  const postgres = await startPostgres();
  const servers: ServerProcess[] = [];
  try {
    const dataDir = join(folder, 'data');
    cpSync(dataDirOf(DEFAULT_FOLDER, urls, say), dataDir, { recursive: true });
    const args = ['move', '--from', dataDir, '--to', postgres.url, '--json'];
    const running = await startServer(dataDir);
    await cutOff(args);
    say('the first move was cut off');
    const first: CopyReport = JSON.parse(await outputOf(args));
    await running.stop();
    const last: CopyReport = JSON.parse(await outputOf(args));
    say(`moved in ${first.seconds.toFixed(1)} s, again in ${last.seconds.toFixed(1)} s`);
    const exports = [await checksum(['--data', dataDir]), await checksum(['--database-url', postgres.url])];
    say('exported twice');
    servers.push(await startServer(dataDir));
    servers.push(await startServer(join(folder, 'empty'), { args: ['--database-url', postgres.url] }));
    const authorization = await logIn(servers[0]?.url ?? '', operatorOf(dataDir));
    return {
      rows: Object.values(last.rows).reduce((sum, count) => sum + count, 0),
      moveSeconds: first.seconds,
      againSeconds: last.seconds,
      isFinished: last.isFinished && !first.isFinished,
      sameExport: exports[0] === exports[1],
      answers: questions,
      differences: await compare(
        servers.map(({ url }) => url),
        authorization,
        { urls, questions },
      ),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
    postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cutOff(args: string[]): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await sleep(CUT_OFF_MS);
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

type Question = { path: string; body?: object };

type Sample = { urls: number; questions: number };

async function compare(servers: string[], authorization: string, { urls, questions }: Sample): Promise<string[]> {
  const differences: string[] = [];
  let next = 0;
  const ask = async () => {
    while (next < questions) {
      const question = questionAt(next++, urls);
      const answers = await Promise.all(servers.map((url) => answerTo(url, authorization, question)));
      if (answers[0] !== answers[1]) differences.push(JSON.stringify(question));
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
  return differences;
}

/** Spread over all URLs and all kinds of questions. */
function questionAt(n: number, urls: number): Question {
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

/** Lines of a search may come in any order. */
async function answerTo(url: string, authorization: string, { path, body }: Question): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await fetch(url + path, {
    method,
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return `${answer.status} ${text.split('\n').sort().join('\n')}`;
}
