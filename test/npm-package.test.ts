import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from './cli/server.ts';
import { urlwardenAlone } from './cli/urlwarden.ts';
import { temporaryFolder } from './temporary-folder.ts';

// The package as people get it: packed from a copy of the clone, installed by npm into an empty project. Takes half a minute,
// most of it for the compiler and for npm.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');
/** A clone has none of these, or installs them. */
const NOT_CLONED = new Set(['.git', 'node_modules', 'dist', 'data', 'two-nodes']);
const KNOWN = 'http://203.0.113.7/bin.sh';
const run = promisify(execFile);

/** As in a shell outside the clone, with this Node. The registry and the cache of `npm run` are kept. */
function shellEnvironment(): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _prefix, PATH = '', ...others } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => !folder.startsWith(ROOT));
  return { ...others, PATH: [dirname(process.execPath), ...folders].join(delimiter) };
}

const env = shellEnvironment();
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** The path of the package. `prepack` builds it. */
async function pack(t: TestContext): Promise<string> {
  const clone = temporaryFolder(t);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_CLONED.has(name)) cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: clone, env });
  return join(clone, stdout.trim());
}

/**
 * A project with nothing but the package. Its lock file has the versions of the one here, without those of the development
 * dependencies: all of them are in the cache of npm since the clone was installed, and none is newer than what was tested.
 */
async function install(t: TestContext): Promise<string> {
  const project = temporaryFolder(t);
  const { packages, ...lock } = readJson(join(ROOT, 'package-lock.json'));
  const { '': itself, ...others } = packages as Record<string, { dev?: boolean }>;
  const needed = Object.entries(others).filter(([, { dev }]) => !dev);
  const dependencies = { urlwarden: `file:${await pack(t)}` };
  const entry = { ...itself, resolved: dependencies.urlwarden, devDependencies: undefined };
  const all = { '': { dependencies }, 'node_modules/urlwarden': entry, ...Object.fromEntries(needed) };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ ...lock, packages: all }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['ci', ...flags], { cwd: project, env });
  return project;
}

const PROGRAM = `import { LimitReachedError, type UrlLast, UrlwardenClient } from 'urlwarden/client';
const client = new UrlwardenClient({ baseUrl: process.argv[2] ?? '', username: 'demo@example.com', password: 'demo' });
const last: UrlLast | null = await client.url.last('${KNOWN}');
const lines: unknown[] = [];
for await (const line of client.url.bulk(['${KNOWN}', 'http://unknown.example/', 'no URL'], { view: 'status' })) {
  // @ts-expect-error: this view has no payloads
  if (line.found) lines.push(line.payload ?? line.status?.status);
  else lines.push(line.error?.code ?? line.found);
}
// @ts-expect-error: there is no such key
last?.payload?.family;
console.log(JSON.stringify([last?.payload?.['malware-family'], lines, new LimitReachedError('x').limit]));
declare const process: { argv: string[] };
declare const console: { log(text: string): void };
`;

const COMMON_JS_PROGRAM = `import { UrlwardenClient } from 'urlwarden/client';
const client = new UrlwardenClient({ baseUrl: process.argv[2] ?? '', username: 'demo@example.com', password: 'demo' });
client.url.last('${KNOWN}').then((last) => console.log(JSON.stringify(last?.payload?.['malware-family'])));
declare const process: { argv: string[] };
declare const console: { log(text: string): void };
`;

/** How programs find the types: compiled for Node, or for a bundler. */
const FOR_NODE = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
const FOR_BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler'];
const PROGRAMS = [
  { name: 'program.ts', flags: FOR_NODE, text: PROGRAM, ran: ['Mirai', ['online', false, 400], null] },
  { name: 'program.ts', flags: FOR_BUNDLER, text: PROGRAM, ran: ['Mirai', ['online', false, 400], null] },
  { name: 'common.cts', flags: FOR_NODE, text: COMMON_JS_PROGRAM, ran: 'Mirai' },
];

test('the package works in a project without the development dependencies', async (t) => {
  const project = await install(t);
  const packages = join(project, 'node_modules');
  const installed = join(packages, 'urlwarden');
  const at = { program: join(installed, 'bin/urlwarden.js'), cwd: project };
  const data = temporaryFolder(t);
  let url = '';

  await t.test('it has what it needs, and no more', () => {
    const { version, dependencies, devDependencies } = readJson(join(ROOT, 'package.json'));
    assert.equal(readJson(join(installed, 'package.json')).version, version);
    for (const name of Object.keys(dependencies)) assert.ok(existsSync(join(packages, name)), name);
    for (const name of Object.keys(devDependencies)) assert.ok(!existsSync(join(packages, name)), name);
    const content = ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'docs', 'examples', 'migrations'];
    assert.deepEqual(
      readdirSync(installed).filter((name) => name !== 'node_modules'),
      [...content, 'package.json'].sort(),
    );
    for (const engine of ['sqlite', 'postgres']) {
      const migrations = join('migrations', engine);
      assert.deepEqual(readdirSync(join(installed, migrations)), readdirSync(join(ROOT, migrations)));
    }
  });

  await t.test('npx runs the command', async () => {
    const { stdout } = await run('npx', ['urlwarden', '--version'], { cwd: project, env });
    assert.match(stdout, /^urlwarden \d+\.\d+\.\d+\n$/);
  });

  await t.test('the server answers, on two threads, with its pages', async () => {
    ({ url } = await startServer(t, ['--demo', '--data', data, '--threads', '2'], at.program));
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    const page = await (await fetch(url)).text();
    const assets = [...page.matchAll(/"(\/assets\/[^"]+\.(js|css|svg))"/g)];
    // The script may be no more than an import of its parts, so the sizes of a type are added.
    const sizes = { css: 0, js: 0, svg: 0 };
    for (const [, path, type] of assets) {
      const response = await fetch(url + path);
      assert.equal(response.status, 200, path);
      assert.match(response.headers.get('content-type') ?? '', type === 'js' ? /^text\/javascript/ : /./);
      sizes[type as keyof typeof sizes] += (await response.text()).length;
    }
    for (const [type, size] of Object.entries(sizes)) assert.ok(size > 100, `${size} characters of ${type}`);
  });

  await t.test('import, lookup and check work on a data folder', async () => {
    const folder = ['--data', join(data, 'new')];
    const imported = await urlwardenAlone(['import', 'url-list', '-', ...folder], `${KNOWN}\n`, at);
    assert.equal(imported.code, 0, imported.stderr);
    const lookup = await urlwardenAlone(['lookup', KNOWN, ...folder], '', at);
    assert.deepEqual([lookup.code, lookup.stderr], [0, '']);
    assert.match(lookup.stdout, /online since/);
    const check = await urlwardenAlone(
      ['check', '-', '--extract', ...folder],
      `GET ${KNOWN}, http://unknown.example/`,
      at,
    );
    assert.deepEqual([check.code, check.stderr], [3, '1 line, 2 URLs (2 distinct), 1 found, 0 invalid\n']);
  });

  for (const { flags, name, text, ran } of PROGRAMS) {
    await t.test(`${name} is compiled with ${flags.join(' ')}, and runs`, async () => {
      const output = join(project, `${flags[1]}-${name}`);
      mkdirSync(output);
      writeFileSync(join(project, name), text);
      const strict = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--target',
        'es2022',
        '--types',
        '',
        '--skipDefaultLibCheck',
      ];
      const lib = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
      const compiled = run(TSC, [...flags, ...strict, ...lib, '--outDir', output, name], { cwd: project });
      await compiled.catch(({ stdout }) => assert.fail(stdout));
      const { stdout } = await run(process.execPath, [join(output, name.replace(/ts$/, 'js')), url]);
      assert.deepEqual(JSON.parse(stdout), ran);
    });
  }
});
