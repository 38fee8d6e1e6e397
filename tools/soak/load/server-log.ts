import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Outages } from './outages.ts';
import type { Problems } from './problems.ts';

/** Counts the lines of the server's log by level and message. */
export type ServerLog = {
  counts(): string[];
  lastLine(): string;
  /** Whether the server has ended, although nobody has stopped it. */
  hasEnded(): boolean;
};

const WARN = 40;
const ERROR = 50;

/** A healthy server writes no error, so one outside of the outages is a problem, and so is a line that is not JSON. */
export function watchServerLog(server: ChildProcess, outages: Outages, problems: Problems): ServerLog {
  const counts = new Map<string, number>();
  let last = '';
  createInterface({ input: server.stderr as Readable }).on('line', (line) => {
    last = line;
    const entry = parse(line);
    if (entry === null) return problems.add('a line of the log that is not JSON', line);
    const { level, msg, time } = entry;
    const name = `${level >= ERROR ? 'error' : level >= WARN ? 'warn' : 'info'}: ${msg}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (level >= ERROR && !outages.includes(time, time)) problems.add(`log, ${name}`, line);
  });
  return {
    counts: () => [...counts].map(([name, count]) => `${count} × ${name}`),
    lastLine: () => last,
    hasEnded: () => server.exitCode !== null || server.signalCode !== null,
  };
}

function parse(line: string): { level: number; msg: string; time: number } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
