import { createReadStream, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { CommandLine, Outcome, Output } from './urlwarden.ts';

// A process that runs one command line of urlwarden after the other, for `urlwarden()` and `startReusedServer()`. Loading
// the modules takes most of the time of a short command, so it is done once. Each command gets its own arguments,
// variables, folder, input and outputs.

const MAIN = new URL('../../src/cli/main.ts', import.meta.url).href;

/** A command that keeps its process alive for longer has left something open. */
const MAX_END_MS = 30_000;

/** `serve` handles them until its process ends. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const send = (outcome: Outcome) => process.send?.(outcome);
const home = process.cwd();
let runs = 0;

process.on('disconnect', () => process.exit());
process.on('message', async (line: CommandLine) => send(await run(line)));

async function run({ args, stdin, cwd, env, isWatched }: CommandLine): Promise<Outcome> {
  const before = countResources();
  const [stdout, stderr] = [collect('stdout', isWatched), collect('stderr', isWatched)];
  const input = openInput(stdin);
  replace({ stdin: input, stdout: stdout.stream, stderr: stderr.stream });
  // As Node ends a program. What comes after that in this process is unknown.
  const fail = (error: unknown) => {
    const text = `${stderr.text()}${error instanceof Error ? error.stack : error}\n`;
    process.send?.({ code: 1, stdout: stdout.text(), stderr: text }, () => process.exit());
  };
  const warn = ({ name, message }: Error) => stderr.stream.write(`${name}: ${message}\n`);
  process.on('uncaughtException', fail).on('warning', warn);
  process.argv.splice(2, Infinity, ...args);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  process.chdir(cwd ?? home);
  try {
    await import(`${MAIN}?${runs++}`);
    await untilEnded(before);
  } catch (error) {
    fail(error);
    await setTimeout(MAX_END_MS);
  }
  process.off('uncaughtException', fail).off('warning', warn);
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  process.chdir(home);
  input.destroy();
  return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
}

/** A file, because commands read standard input as a stream or by its number. */
function openInput(content: string | Uint8Array) {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-stdin-'));
  const path = join(folder, 'stdin');
  writeFileSync(path, content);
  const fd = openSync(path, 'r');
  rmSync(folder, { recursive: true });
  return createReadStream('', { fd });
}

function collect(name: Output['name'], isWatched: boolean) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      if (isWatched) process.send?.({ name, text: String(chunk) } satisfies Output);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

function replace(streams: Partial<Record<'stdin' | 'stdout' | 'stderr', unknown>>): void {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
}

/** Waits until nothing of the command is left that would keep its process alive. */
async function untilEnded(before: ReadonlyMap<string, number>): Promise<void> {
  for (const endMs = performance.now() + MAX_END_MS; ; await setTimeout(2, undefined, { ref: false })) {
    const left = [...countResources()].filter(([name, count]) => count > (before.get(name) ?? 0));
    if (left.length === 0) return;
    if (performance.now() > endMs) throw new Error(`the command has ended, but not its process: ${left.join()}`);
  }
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
