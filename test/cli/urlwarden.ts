import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../bin/urlwarden.js', import.meta.url));

export type Outcome = { code: number | null; stdout: string; stderr: string };

/** Runs the program with these arguments, in a folder and with variables of its own if they are given. Another `program` is an installed one. */
export async function urlwarden(
  args: string[],
  stdin: string | Buffer = '',
  { cwd, env = {}, program = PROGRAM }: { cwd?: string; env?: Record<string, string>; program?: string } = {},
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
