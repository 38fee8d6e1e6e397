import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../bin/urlwarden.js', import.meta.url));
const COMMAND_PROCESS = fileURLToPath(new URL('command-process.ts', import.meta.url));

export type Outcome = { code: number | null; stdout: string; stderr: string };
export type CommandLine = {
  args: string[];
  stdin: string | Uint8Array;
  cwd: string | undefined;
  env: Record<string, string | undefined>;
  /** Its output is sent at once, not only with the outcome. */
  isWatched: boolean;
};
/** A message of `command-process.ts` before the outcome. */
export type Output = { name: 'stdout' | 'stderr'; text: string };
type Options = { cwd?: string; env?: Record<string, string> };

/** So many commands run at the same time; others wait. */
const MAX_COMMAND_PROCESSES = 2;
const idle: ChildProcess[] = [];
const waiting: ((child: ChildProcess) => void)[] = [];
let started = 0;

/**
 * Runs the program with these arguments, in a folder and with variables of its own if they are given. Commands one after the
 * other share a process (`command-process.ts`), commands at the same time never do.
 */
export async function urlwarden(
  args: string[],
  stdin: string | Buffer = '',
  { cwd, env = {} }: Options = {},
): Promise<Outcome> {
  const child = await commandProcess();
  const outcome = await run(child, { args, stdin, cwd, env: { ...process.env, ...env }, isWatched: false });
  const next = waiting.shift();
  if (next !== undefined) next(child.connected ? child : startCommandProcess());
  else if (child.connected) idle.push(child);
  else started--;
  return outcome;
}

async function commandProcess(): Promise<ChildProcess> {
  const child = idle.pop();
  if (child !== undefined) return child;
  if (started === MAX_COMMAND_PROCESSES) return new Promise((resolve) => waiting.push(resolve));
  started++;
  return startCommandProcess();
}

export function startCommandProcess(): ChildProcess {
  return fork(COMMAND_PROCESS, { serialization: 'advanced', execArgv: [] }); // without the flags of the test runner
}

/** Only while a command runs does its process keep this one alive. */
function run(child: ChildProcess, line: CommandLine): Promise<Outcome> {
  child.ref();
  child.channel?.ref();
  return new Promise<Outcome>((resolve) => {
    const onMessage = (outcome: unknown) => end(outcome as Outcome);
    const onExit = (code: number | null) => end({ code, stdout: '', stderr: 'the process of the commands has ended' });
    const end = (outcome: Outcome) => {
      child.off('message', onMessage).off('exit', onExit).unref();
      child.channel?.unref();
      resolve(outcome);
    };
    child.on('message', onMessage).on('exit', onExit).send(line);
  });
}

/** The same in a process of its own, as a person starts it. Another `program` is an installed one. */
export async function urlwardenAlone(
  args: string[],
  stdin: string | Buffer = '',
  { cwd, env = {}, program = PROGRAM }: Options & { program?: string } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, ...env } });
  child.stdin.on('error', () => {}); // the program may exit before it reads its input
  child.stdin.end(stdin);
  const [code, stdout, stderr] = await Promise.all([
    new Promise<number | null>((resolve) => child.on('close', resolve)),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

export function startUrlwarden(args: string[], program = PROGRAM) {
  return spawn(process.execPath, [program, ...args]);
}

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
