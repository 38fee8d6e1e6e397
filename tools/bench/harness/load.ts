import { type ChildProcess, execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Requests that are sent in turn; after the last one the first comes again. */
export type Requests = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** The paths, where they differ; or one path and the bodies. */
  paths: readonly string[];
  bodies: readonly string[];
  /** Whether the expected answer is a refusal, such as 404. */
  isRefused: boolean;
};

export type LoadResult = { perSecond: number; p50Ms: number };

/** The load of every row: so many connections, each with one request at a time. */
const CONNECTIONS = 32;

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));
const CHILD = fileURLToPath(new URL('./autocannon-child.ts', import.meta.url));
const run = promisify(execFile);

/** `wrk` where it is installed: it leaves more of two cores to the server. */
export const generator: 'wrk' | 'autocannon' = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk';

/** `refused`: answers of 400 and above. `broken`: requests without an answer. */
export type Counted = { total: number; refused: number; broken: number; seconds: number; p50Ms: number };

/** From a process of its own. Throws when an answer was not the expected one. */
export async function load(url: string, requests: Requests, seconds: number): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-load-'));
  try {
    const file = join(folder, 'requests');
    writeFileSync(file, generator === 'wrk' ? wrkText(requests) : JSON.stringify(requests));
    const counted = generator === 'wrk' ? await wrk(url, file, seconds) : await autocannon(url, file, seconds);
    const { total, refused, broken } = counted;
    const wrong = broken + (requests.isRefused ? total - refused : refused);
    if (wrong > 0) throw new Error(`${wrong} of ${total} answers from ${url} were not the expected ones`);
    return { perSecond: total / counted.seconds, p50Ms: counted.p50Ms };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Method and headers, an empty line, then path and body of each request in turn. */
function wrkText({ method, headers, paths, bodies }: Requests): string {
  const head = [method, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ''];
  const count = Math.max(paths.length, bodies.length);
  const lines = Array.from({ length: count }, (_, i) => [paths[i % paths.length] ?? '/', bodies[i] ?? '']);
  return [...head, ...lines.flat(), ''].join('\n');
}

async function wrk(url: string, file: string, seconds: number): Promise<Counted> {
  const args = ['--threads', '1', '--connections', `${CONNECTIONS}`, '--duration', `${seconds}s`, '--script', SCRIPT];
  const { stdout } = await run('wrk', [...args, url, '--', file]);
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n{')));
}

async function autocannon(url: string, file: string, seconds: number): Promise<Counted> {
  const child: ChildProcess = fork(CHILD, [url, file, `${seconds}`, `${CONNECTIONS}`]);
  const [result] = await once(child, 'message');
  return result;
}
