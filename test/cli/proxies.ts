import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { needs } from '../needs.ts';
import { type Child, freePort, startChild, untilReady } from '../servers/child.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export type Proxy = { name: string; url: string; child: Child };

/** Starts nginx with `deploy/nginx.conf`, as `edit` changes it, in front of these ports instead of its two nodes. */
export async function startNginx(
  t: TestContext,
  ports: readonly number[],
  edit: (text: string) => string = (text) => text,
): Promise<Proxy> {
  needs('nginx');
  const folder = temporaryFolder(t);
  const port = await freePort();
  // Folders that only root can write to otherwise.
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const text = withNodes(edit(shipped('nginx.conf')), ports)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('http {', `http { ${folders.join(' ')}`);
  const file = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'logs'));
  writeFileSync(file, `daemon off; pid ${join(folder, 'pid')}; error_log stderr;\n${text}`);
  return start(t, 'nginx', ['-p', folder, '-e', 'stderr', '-c', file], port);
}

/** The same for HAProxy and `deploy/haproxy.cfg`. */
export async function startHaproxy(
  t: TestContext,
  ports: readonly number[],
  edit: (text: string) => string = (text) => text,
): Promise<Proxy> {
  needs('haproxy');
  const port = await freePort();
  const file = join(temporaryFolder(t), 'haproxy.cfg');
  const text = withNodes(edit(shipped('haproxy.cfg')), ports)
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8079', `127.0.0.1:${await freePort()}`);
  writeFileSync(file, text);
  return start(t, 'haproxy', ['-db', '-f', file], port);
}

const shipped = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

/** Repeats every line with `node1` for each port, and removes those with `node2`. */
function withNodes(text: string, ports: readonly number[]): string {
  const lines = text.split('\n').filter((line) => !line.includes('node2:8080'));
  return lines
    .flatMap((line) => (line.includes('node1:8080') ? ports.map((port, i) => forNode(line, port, i)) : line))
    .join('\n');
}

function forNode(line: string, port: number, index: number): string {
  return line.replace('node1:8080', `127.0.0.1:${port}`).replace('node1', `node${index + 1}`);
}

async function start(t: TestContext, name: string, args: string[], port: number): Promise<Proxy> {
  const child = startChild(name, args);
  t.after(() => child.end('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(name, child, async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200);
  return { name, url, child };
}
