import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startReusedServer } from './cli/server.ts';
import { urlwarden } from './cli/urlwarden.ts';
import { temporaryFolder } from './temporary-folder.ts';

const EXAMPLES = fileURLToPath(new URL('../examples/', import.meta.url));

export type Run = { code: number | null; stdout: Buffer; stderr: string };
export type Variables = Record<string, string>;
export type Demo = { url: string; dataDir: string };

/** A server with the demo data, on a free port. */
export async function startDemo(t: TestContext): Promise<Demo> {
  const folder = temporaryFolder(t);
  const { url } = await startReusedServer(t, ['--demo', '--data', folder]);
  return { url, dataDir: join(folder, 'demo') };
}

/** Variables of a new account with the given limits. */
export async function accountWith(demo: Demo, name: string, limits: string[]): Promise<Variables> {
  const data = ['--data', demo.dataDir];
  await succeeds(['tier', 'set', name, ...limits, ...data]);
  await succeeds(['account', 'add', name, '--tier', name, ...data], 'secret\n');
  return { WARDEN_URL: demo.url, WARDEN_USERNAME: name, WARDEN_PASSWORD: 'secret' };
}

async function succeeds(args: string[], stdin = ''): Promise<void> {
  const { code, stderr } = await urlwarden(args, stdin);
  if (code !== 0) throw new Error(stderr);
}

export function runNode(file: string, args: string[], variables: Variables, stdin: string | Buffer = ''): Promise<Run> {
  return run(process.execPath, [join(EXAMPLES, file), ...args], variables, stdin);
}

export function runShell(file: string, args: string[], variables: Variables): Promise<Run> {
  return run('sh', [join(EXAMPLES, file), ...args], variables, '');
}

async function run(program: string, args: string[], variables: Variables, stdin: string | Buffer): Promise<Run> {
  const child = spawn(program, args, { env: { ...process.env, ...variables } });
  child.stdin.on('error', () => {}); // a program that fails early does not read its input
  child.stdin.end(stdin);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk) => stdout.push(chunk));
  child.stderr.on('data', (chunk) => stderr.push(chunk));
  const [code] = await once(child, 'close');
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

/** A URL at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

export type Reply = { status: number; headers?: Record<string, string>; body?: object };

/** A server that gives these replies to lookups, then 404, and records when each request came. */
export async function startScripted(t: TestContext, replies: Reply[], loginStatus = 200) {
  const lookupsMs: number[] = [];
  let logins = 0;
  const server = createServer((request, response) => {
    const isLogin = request.url === '/api/v1/login';
    if (isLogin) logins += 1;
    else lookupsMs.push(Date.now());
    const login: Reply = { status: loginStatus, body: { code: loginStatus, token: `token-${logins}`, expires: 0 } };
    const reply = isLogin ? login : (replies[lookupsMs.length - 1] ?? { status: 404 });
    response.writeHead(reply.status, reply.headers ?? {}).end(JSON.stringify(reply.body ?? { code: reply.status }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { variables: { WARDEN_URL: url }, lookupsMs, logins: () => logins };
}
