import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';

// Loading the program, building the first server and starting the first writer thread take about two seconds of CPU time in
// each process, more than most files of the HTTP suite take for their tests. So these files share processes: each file of this
// folder imports a part of them, and their tests run one after the other. `http-2.test.ts` has part 2.

const files = globSync('http/*.test.ts', { cwd: dirname(import.meta.dirname) }).sort();
const parts = globSync('http-*.test.ts', { cwd: import.meta.dirname }).length;
const [, part] = /^http-(\d+)\.test\.ts$/.exec(basename(process.argv[1] ?? '')) ?? [];
if (part === undefined) throw new Error('start one of the files http-*.test.ts');

const own = files.filter((_, i) => i % parts === Number(part) - 1);
await Promise.all(own.map((file) => import(new URL(`../${file}`, import.meta.url).href)));
