import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { startDemo } from '../example-runs.ts';
import { openPortal } from '../portal/browser.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const run = promisify(execFile);

/** The client as the package has it, without the rest. */
function built(t: TestContext): string {
  const folder = temporaryFolder(t);
  const compilerOptions = { outDir: folder, rootDir: `${ROOT}/src`, typeRoots: [`${ROOT}/node_modules/@types`] };
  const config = { extends: `${ROOT}/tsconfig.build.json`, compilerOptions, include: [`${ROOT}/src/client`] };
  writeFileSync(join(folder, 'build.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  execFileSync(TSC, ['-p', 'build.json'], { cwd: folder, stdio: 'pipe' });
  return folder;
}

async function bundle(options: BuildOptions): Promise<string> {
  const base: BuildOptions = { bundle: true, minify: true, format: 'esm', target: 'es2022', platform: 'browser' };
  const { outputFiles } = await build({ ...base, ...options, write: false, logLevel: 'silent' });
  return outputFiles?.[0]?.text ?? '';
}

const CLIENT = join(ROOT, 'src/client/index.ts');

test('the client is small, and only what is imported is part of a bundle', async () => {
  const all = await bundle({ entryPoints: [CLIENT] });
  assert.ok(gzipSync(all, { level: 9 }).length < 6000, `${gzipSync(all).length} bytes`);
  assert.doesNotMatch(all, /\bimport\b/);
  const contents = `export { LimitReachedError } from ${JSON.stringify(CLIENT)}`;
  const one = await bundle({ stdin: { contents, resolveDir: ROOT } });
  assert.ok(one.length < 1500, `${one.length} bytes for an error class`);
});

test('the built client imports only its own files, and its types need neither Node.js nor another package', (t) => {
  const folder = built(t);
  const files = globSync('client/*.{js,d.ts}', { cwd: folder });
  assert.ok(files.length > 8);
  for (const file of files) {
    for (const [, target = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/\bfrom ['"]([^'"]+)['"]/g)) {
      assert.match(target, /^\.\/[a-z]+\.[jt]s$/, file);
    }
  }
  const program = [
    `import { type BulkLine, LimitReachedError, type UrlStatus, UrlwardenClient } from './client/index.js';`,
    `const client = new UrlwardenClient({ baseUrl: 'https://intel.example.com', token: 'x', fetch });`,
    `export const status: 'online' | 'offline' | undefined = (await client.url.last('http://example.com/'))?.status?.status;`,
    `for await (const line of client.url.bulk(['x'], { view: 'status' })) {`,
    `  if (line.found) line.status satisfies UrlStatus | null;`,
    `  // @ts-expect-error: this view has no payloads`,
    `  if (line.found) line.payload;`,
    `}`,
    `// @ts-expect-error: one key only`,
    `client.url.search({ ip: '192.0.2.1', host: 'example.com' });`,
    `export const seconds = (error: unknown): number | null => error instanceof LimitReachedError ? error.retryAfterSeconds : 0;`,
    `export type Line = BulkLine;`,
  ];
  writeFileSync(join(folder, 'program.ts'), program.join('\n'));
  const options = [
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable,dom.asynciterable',
    '--types',
    '',
    '--strict',
  ];
  const strict = ['--module', 'nodenext', '--exactOptionalPropertyTypes', '--skipDefaultLibCheck', '--noEmit'];
  const { status, stdout } = spawnSync(TSC, [...options, ...strict, 'program.ts'], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

/** The same in every runtime. Returns what it saw. */
const VISIT = `async (UrlwardenClient, LimitReachedError, baseUrl) => {
  const client = new UrlwardenClient({ baseUrl, username: 'demo@example.com', password: 'demo' });
  const urls = ['http://203.0.113.7/bin.sh', 'http://unknown.example/'];
  const [known, unknown] = await Promise.all(urls.map((url) => client.url.last(url)));
  let facts = 0;
  for await (const fact of client.url.search({ ip: '198.51.100.0/25' })) facts += fact.url.startsWith('http') ? 1 : 0;
  let first;
  for await (const fact of client.url.search({ ip: '198.51.100.0/24' })) {
    first = typeof fact.id;
    break;
  }
  const { results } = await client.address.listed('203.0.113.130');
  const domain = await client.domain.get('controller.example');
  const refused = await client.url.last('hxxp://x/').catch((error) => [error.name, error.status, error instanceof LimitReachedError]);
  const aborted = await client.limits({ signal: AbortSignal.abort() }).catch((error) => error.name);
  const { account } = await client.limits();
  const bulk = [];
  for await (const line of client.url.bulk([...urls, 'no URL'], { batchLines: 2 })) bulk.push(line.error?.code ?? line.found);
  return [known.payload['malware-family'], unknown, facts > 3, first, results.map(({ dataset }) => dataset), domain.tags, refused, aborted, account.usr, client.rate.policies.length, bulk];
}`;
const SEEN = [
  'Mirai',
  null,
  true,
  'number',
  ['DROP', 'BCL'],
  ['botnetcc'],
  ['BadRequestError', 400, false],
  'AbortError',
  'demo@example.com',
  4,
  [true, false, 400],
];

/** Programs named `node` on the PATH whose version is 20, the oldest that the client supports. */
function findNode20(): string | undefined {
  const { stdout } = spawnSync('bash', ['-c', 'type -aP node'], { encoding: 'utf8' });
  const isVersion20 = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v20.');
  return stdout.trim().split('\n').find(isVersion20);
}

test('the built client works in Node 20 and in this Node', async (t) => {
  const { url } = await startDemo(t);
  const folder = built(t);
  const program = `import { LimitReachedError, UrlwardenClient } from './client/index.js';
    console.log(JSON.stringify(await (${VISIT})(UrlwardenClient, LimitReachedError, ${JSON.stringify(url)})));`;
  writeFileSync(join(folder, 'visit.js'), program);
  const visit = async (node: string) => JSON.parse((await run(node, [join(folder, 'visit.js')])).stdout);
  await t.test(process.version, async () => assert.deepEqual(await visit(process.execPath), SEEN));
  await t.test('Node 20', async (t) => {
    const node = findNode20();
    if (node === undefined) t.skip('NOT RUN: there is no Node 20 on the PATH');
    else assert.deepEqual(await visit(node), SEEN);
  });
});

test('the client works in Chromium', async (t) => {
  const { url, visit } = await openPortal(t);
  const { page, open } = await visit({ isLoggedIn: false });
  await open('/');
  const script = await bundle({ entryPoints: [CLIENT], format: 'iife', globalName: 'urlwarden' });
  const seen = await page.evaluate(
    `(() => { ${script}; return (${VISIT})(urlwarden.UrlwardenClient, urlwarden.LimitReachedError, ${JSON.stringify(url)}); })()`,
  );
  assert.deepEqual(seen, SEEN);
});
