import { setTimeout as sleep } from 'node:timers/promises';
import { paths } from '../../src/core/paths.ts';
import { windowIndex } from '../../src/core/quota.ts';
import { logIn, type ServerProcess, startServer } from '../shared/server-process.ts';
import { integrityFaults } from './kill.ts';
import { accept, type LoadAccount, newestPhase } from './load/accounts.ts';
import { type Engine, type EngineName, openEngine } from './load/engine.ts';
import { createGenerator, type Generator } from './load/generator.ts';
import { createInterventions, type Intervention, runCommand } from './load/interventions.ts';
import { createOutages, type Outages } from './load/outages.ts';
import { createProblems, type Problems } from './load/problems.ts';
import { createProgress, type Totals } from './load/progress.ts';
import { generateRequests } from './load/requests.ts';
import { MAX_GROWN_FILES, maxGrownMb, type Trend, watchResources } from './load/resources.ts';
import { watchServerLog } from './load/server-log.ts';

export type LoadOptions = {
  minutes: number;
  urls: number;
  importRows: number;
  warmUpMs: number;
  peakMs: number;
  /** How long a server that is restarted is down. */
  downMs: number;
  /** Names of interventions; without it, all of them. */
  only?: readonly string[];
  signal: AbortSignal;
  log(text: string): void;
};

/** It has passed if there are no problems. */
type LoadResult = Totals & { problems: string[] };

type Run = LoadOptions & { engine: Engine; server: ServerProcess; outages: Outages; problems: Problems };

/** Part of the peak. The rest is for imports, and for other work of the machine. */
const LOAD_SHARE = 0.8;
/** Different requests; then the first one follows the last, from another account. */
const REQUESTS = 20_000;
/** An intervention begins this often, in short runs more often: each is done at least once. */
const INTERVENTION_MS = 60_000;

/**
 * Sends 80 % of the peak load for some minutes, while an operator imports and changes accounts, and while Redis and
 * PostgreSQL are restarted. Checks every response, the log, the memory, and at the end the counters.
 */
export async function loadSoak(name: EngineName, options: LoadOptions): Promise<LoadResult> {
  const { log, signal } = options;
  requireOneMonth(options.minutes);
  const engine = await openEngine(name, options);
  try {
    signal.throwIfAborted();
    const server = await startServer(engine.dataDir, { metricsPort: 0, args: engine.serverFlags, log: 'pipe' });
    try {
      const [outages, problems] = [createOutages(), createProblems()];
      const serverLog = watchServerLog(server.child, outages, problems);
      const run = { ...options, engine, server, outages, problems };
      const totals = await sendLoad(run);
      signal.throwIfAborted();
      if (serverLog.hasEnded()) problems.add('the server ended', serverLog.lastLine());
      else await checkEnd(run);
      for (const line of serverLog.counts()) log(`  log of the server: ${line}`);
      for (const line of problems.lines()) log(`  ${line}`);
      log(`${name}: ${problems.isEmpty() ? 'PASS' : 'FAIL'}`);
      return { ...totals, problems: problems.lines() };
    } finally {
      await server.stop('SIGKILL'); // it has ended already, unless something failed before
    }
  } finally {
    await engine.close();
  }
}

/** The counters begin again with each month, so the sum of a run over its end would be unknown. */
function requireOneMonth(minutes: number): void {
  const setUpMinutes = Math.min(10, 1 + minutes);
  const ts = Math.floor(Date.now() / 1_000);
  if (windowIndex('month', ts) === windowIndex('month', ts + (minutes + setUpMinutes) * 60)) return;
  throw new Error('the month (UTC) ends during this run, and with it the counters: start it after midnight');
}

async function sendLoad(run: Run): Promise<Totals> {
  const { engine, server, minutes, log, problems } = run;
  for (const account of engine.accounts) accept(account, await logIn(server.url, account));
  const requests = generateRequests(REQUESTS, run.urls);
  const port = Number(new URL(server.url).port);
  const generator = createGenerator({ ...run, port, accounts: engine.accounts, requests });
  const ended = new AbortController();
  server.child.once('exit', () => ended.abort());
  const signal = AbortSignal.any([run.signal, ended.signal]);
  try {
    await generator.runAtPeak(run.warmUpMs);
    const peak = await generator.runAtPeak(run.peakMs);
    const rate = peak * LOAD_SHARE;
    log(`${engine.name}: peak ${Math.round(peak)} answers/s, so ${Math.round(rate)}/s for ${minutes} minutes`);
    generator.setRate(rate);
    generator.report();
    const resources = watchResources(server.child.pid as number);
    const progress = createProgress({ ...run, generator, resources, rate });
    await intervene(interventionsOf(run, generator), { ...run, signal });
    if (!signal.aborted) await generator.stop();
    resources.stop();
    const totals = progress.end();
    checkTrend(resources.trend(), problems, log);
    return totals;
  } finally {
    generator.close();
  }
}

function interventionsOf(run: Run, generator: Generator): Intervention[] {
  const all = createInterventions({ ...run, url: run.server.url, generator });
  return all.filter(({ name }) => run.only?.includes(name) ?? true);
}

/** One at a time, until the time is over; all of them at least once. */
async function intervene(interventions: Intervention[], { minutes, signal, problems, log }: LoadOptions & Run) {
  const [startMs, runMs] = [performance.now(), minutes * 60_000];
  const intervalMs = Math.min(INTERVENTION_MS, runMs / interventions.length);
  for (let n = 0; ; n++) {
    const atMs = (n + 0.5) * intervalMs;
    const isOver = n >= interventions.length && atMs > runMs;
    const waitMs = Math.max(0, startMs + (isOver ? runMs : atMs) - performance.now());
    await sleep(waitMs, undefined, { signal }).catch(() => {});
    const intervention = interventions[n % interventions.length];
    if (isOver || signal.aborted || intervention === undefined) return;
    try {
      log(`  ${intervention.name}: ${await intervention.run()}`);
    } catch (error) {
      problems.add(`${intervention.name} failed`, String((error as Error).stack));
    }
  }
}

/** After the last answer: the counters, once from the server and once from the database after its end; the database. */
async function checkEnd({ engine, server, problems, log }: Run): Promise<void> {
  const check = (account: LoadAccount, source: string, counted: number) => {
    const { username, charged, uncertain } = account;
    const text = `${username}: ${counted} by ${source}; weight of the responses: ${charged}, of lost ones: ${uncertain}`;
    log(`  counted for ${text}`);
    if (counted < charged || counted > charged + uncertain) problems.add(`another count by ${source}`, text);
  };
  for (const account of engine.accounts) check(account, 'limits', await countByLimits(server.url, account));
  await stopServer(server, problems);
  for (const account of engine.accounts) check(account, 'account show', await countByCommand(engine, account));
  if (engine.restarts !== null) return;
  for (const fault of integrityFaults(engine.dataDir)) problems.add('the integrity of the database', fault);
}

/** The grace time is 5 s, and open responses may take 8 s; the rest is for a busy machine. */
const STOP_MS = 60_000;

async function stopServer({ child, stop }: ServerProcess, problems: Problems): Promise<void> {
  const isStopped = await Promise.race([stop('SIGTERM').then(() => true), sleep(STOP_MS, false, { ref: false })]);
  if (isStopped && child.exitCode === 0) return;
  problems.add('the end of the server', isStopped ? `exit code ${child.exitCode}` : `not within ${STOP_MS} ms`);
  await stop('SIGKILL');
}

async function countByLimits(url: string, account: LoadAccount): Promise<number> {
  const headers = { authorization: newestPhase(account).authorization };
  const response = await fetch(url + paths.limits, { headers });
  return ((await response.json()) as { current: { qpm: number } }).current.qpm;
}

async function countByCommand({ placeFlags }: Engine, { username }: LoadAccount): Promise<number> {
  const { output } = await runCommand(['account', 'show', username, '--json', ...placeFlags]);
  return JSON.parse(output).usage.month;
}

function checkTrend(trend: Trend, problems: Problems, log: (text: string) => void): void {
  const { mbPerHour, grownMb, minutes, firstOpenFiles, lastOpenFiles } = trend;
  const memory = `${mbPerHour.toFixed(1)} MB/hour over the last ${minutes.toFixed(1)} minutes (${grownMb.toFixed(1)} MB)`;
  log(`  memory: ${memory}; open files: ${firstOpenFiles}, at the end ${lastOpenFiles}`);
  const max = maxGrownMb(minutes);
  if (max === null) log('  the run is too short to check the memory');
  else if (grownMb > max) problems.add('the memory grows', memory);
  if (lastOpenFiles > firstOpenFiles + MAX_GROWN_FILES) {
    problems.add('the number of open files grows', `${firstOpenFiles}, then ${lastOpenFiles}`);
  }
}
