import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';

// Builds the pages into dist/pages: `npm run build`, and `urlwarden serve` in a clone when a source is newer.

const SOURCES = fileURLToPath(new URL('./', import.meta.url));
/** The browser code uses rules of the server, such as the recognition of addresses, and its texts. */
const SHARED = ['../src/core/', '../src/exports/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
const OUTPUT = fileURLToPath(new URL('../dist/pages/', import.meta.url));
/** Not the files that another process is writing. */
const HASHED = /^[\w-]+-\w+\.(?:js|css|svg)$/;
/** Written last: if it is there, all other files are. */
const INDEX = join(OUTPUT, 'index.html');

/** The table of `tr46` takes more than all pages. */
const TR46 = join(SOURCES, 'tr46.ts');

/** Chromium, Firefox and Safari of 2024: `light-dark()` needs them. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5'];

export async function buildPortal(): Promise<void> {
  const { build } = await import('esbuild'); // not when the server starts and nothing is stale
  const { outputFiles, metafile } = await build({
    entryPoints: [join(SOURCES, 'main.tsx'), join(SOURCES, 'style.css'), join(SOURCES, 'icon.svg')],
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: true, // what `import()` names in main.tsx is loaded when its page is opened
    metafile: true,
    alias: { tr46: TR46 },
    target: TARGET,
    jsx: 'transform',
    jsxFactory: 'h',
    jsxFragment: 'Fragment',
    inject: [join(SOURCES, 'jsx.ts')],
    tsconfigRaw: '{}', // what tsconfig.json says about JSX is for the type checker
    loader: { '.svg': 'copy' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    outdir: OUTPUT,
    write: false,
    logLevel: 'error',
  });
  mkdirSync(OUTPUT, { recursive: true });
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
  writeWhole(INDEX, indexPage(metafile));
  const current = new Set([basename(INDEX), ...outputFiles.map(({ path }) => basename(path))]);
  const old = readdirSync(OUTPUT).filter((name) => HASHED.test(name) && !current.has(name));
  for (const name of old) rmSync(join(OUTPUT, name), { force: true });
}

/** True if there is no build, or a source is newer. */
export function isStale(): boolean {
  const builtMs = statSync(INDEX, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [SOURCES, ...SHARED].some((folder) => newestMs(folder) > builtMs);
}

function newestMs(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(...entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs));
}

/** Several servers may build at the same time: each file is complete, whoever renames it last. */
function writeWhole(path: string, contents: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/** The parts of the script that every page needs are fetched at the same time as the script. */
function indexPage({ outputs }: Metafile): string {
  const entryOf = (source: string) =>
    Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(source));
  const [scriptPath = '', script] = entryOf('main.tsx') ?? [];
  const parts = (script?.imports ?? []).filter(({ kind }) => kind === 'import-statement');
  const names: Record<string, string> = {
    js: scriptPath,
    css: entryOf('style.css')?.[0] ?? '',
    svg: entryOf('icon.svg')?.[0] ?? '',
  };
  const assetPath = (path: string) => `/assets/${basename(path)}`;
  return readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replaceAll(/\{(js|css|svg)\}/g, (_, name) => assetPath(names[name] ?? ''))
    .replace(/^.*\{part\}.*\n/m, (line) => parts.map(({ path }) => line.replace('{part}', assetPath(path))).join(''));
}

if (import.meta.main) await buildPortal();
