import { type ChildProcess, execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Requests that are sent in this order; the first follows the last. */
export type Requests = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** Several paths, or one path and several bodies. */
  paths: readonly string[];
  bodies: readonly string[];
  /** Whether the expected status is 400 or above, such as 404. */
  isRefused: boolean;
  /** The only status that counts as expected. Each response is then checked, which takes time of the generator. */
  status?: number;
};

type LoadResult = { perSecond: number; p50Ms: number };

/** Connections of a load, unless it says otherwise; each has one request at a time. */
export const CONNECTIONS = 32;

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));
const CHILD = fileURLToPath(new URL('./autocannon-child.ts', import.meta.url));
const run = promisify(execFile);

/** `wrk` if it is installed: it needs less of two cores than autocannon. */
export const generator: 'wrk' | 'autocannon' = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk';

/**
 * `refused`: responses with status 400 or above. `other`: those with another status than the one that was given. `broken`:
 * requests without a response.
 */
export type Counted = {
  total: number;
  refused: number;
  other: number;
  broken: number;
  seconds: number;
  p50Ms: number;
};

/** Sends the requests from another process. Throws when a response was not the expected one. */
export async function load(
  url: string,
  requests: Requests,
  seconds: number,
  connections = CONNECTIONS,
): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-load-'));
  try {
    const file = join(folder, 'requests');
    writeFileSync(file, generator === 'wrk' ? wrkText(requests) : JSON.stringify(requests));
    const counted =
      generator === 'wrk'
        ? await wrk(url, file, seconds, connections)
        : await autocannon(url, file, seconds, connections);
    const { total, refused, other, broken } = counted;
    const wrong = broken + (requests.status !== undefined ? other : requests.isRefused ? total - refused : refused);
    if (wrong > 0) throw new Error(`${wrong} of ${total} responses from ${url} were not as expected`);
    return { perSecond: total / counted.seconds, p50Ms: counted.p50Ms };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The expected status, method and headers, an empty line, then path and body of each request. */
function wrkText({ method, headers, paths, bodies, status }: Requests): string {
  const head = [`${status ?? ''}`, method, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ''];
  const count = Math.max(paths.length, bodies.length);
  const lines = Array.from({ length: count }, (_, i) => [paths[i % paths.length] ?? '/', bodies[i] ?? '']);
  return [...head, ...lines.flat(), ''].join('\n');
}

async function wrk(url: string, file: string, seconds: number, connections: number): Promise<Counted> {
  const args = ['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`, '--script', SCRIPT];
  const { stdout } = await run('wrk', [...args, url, '--', file]);
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n{')));
}

async function autocannon(url: string, file: string, seconds: number, connections: number): Promise<Counted> {
  const child: ChildProcess = fork(CHILD, [url, file, `${seconds}`, `${connections}`]);
  const [result] = await once(child, 'message');
  return result;
}
