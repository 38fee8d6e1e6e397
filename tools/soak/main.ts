import { parseArgs } from 'node:util';
import { importKillLoop } from './import-kill.ts';
import { killLoop } from './kill.ts';
import { ENGINES, type EngineName } from './load/engine.ts';
import { loadSoak } from './load.ts';
import { moveSoak } from './move.ts';
import { streamSoak } from './stream.ts';

// npm run soak: all long runs. npm run soak -- load stream: only these. test/tools/soak has short versions of them.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Of `stream` and `move`. */
    rows: { type: 'string', default: '1000000' },
    /** Of `kill`. */
    kills: { type: 'string', default: '50' },
    /** Of `load`, on each engine. */
    minutes: { type: 'string', default: '30' },
    urls: { type: 'string', default: '200000' },
    /** Of `load`: `embedded` or `scaled`; by default both. */
    engine: { type: 'string' },
  },
});
const IMPORT_KILLS = 20;
/** 128 + SIGINT, as shells report it. */
const EXIT_STOPPED = 130;
const log = (text: string) => process.stdout.write(`${text}\n`);

/** Each returns whether its results are within their limits. */
const RUNS: Record<string, () => Promise<boolean>> = {
  async kill() {
    const rounds = Number(values.kills);
    const kill = await killLoop({ rounds, observations: 40_000, batchSize: 2_000, maxDelayMs: 3_000 });
    const faults = JSON.stringify(kill.faults);
    log(`kill -9 in ${kill.killed} of ${rounds} runs: faults ${faults}, same state: ${kill.sameState}`);
    return kill.faults.length === 0 && kill.sameState;
  },

  async 'import-kill'() {
    const imports = await importKillLoop({ kills: IMPORT_KILLS, rows: 20_000 });
    const faults = JSON.stringify(imports.faults);
    log(`kill -9 in ${imports.killed} imports: faults ${faults}, same export: ${imports.sameState}`);
    return imports.faults.length === 0 && imports.sameState && imports.killed === IMPORT_KILLS;
  },

  async stream() {
    const stream = await streamSoak(Number(values.rows), { report: log });
    for (const [name, value] of Object.entries(stream)) log(`${name.padEnd(16)} ${Number(value.toFixed(2))}`);
    return (
      stream.rows === Number(values.rows) &&
      stream.grownMb < 64 &&
      stream.lastDuringP99Ms < 50 &&
      stream.loopDelayP999Ms < 10
    );
  },

  async move() {
    const { differences, ...move } = await moveSoak(Number(values.rows), 10_000, log);
    for (const [name, value] of Object.entries(move)) log(`${name.padEnd(16)} ${value}`);
    log(`different responses after the move: ${differences.length}`);
    return move.isFinished && move.sameExport && differences.length === 0;
  },

  async load() {
    const engines = ENGINES.filter((name) => values.engine === undefined || values.engine === name);
    const results: boolean[] = [];
    for (const engine of engines) results.push(await loadUntilStopped(engine));
    return results.every(Boolean);
  },
};

/** Ctrl-C ends the run with everything that it has started. */
async function loadUntilStopped(engine: EngineName): Promise<boolean> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const minutes = Number(values.minutes);
    const sizes = { urls: Number(values.urls), importRows: 20_000, warmUpMs: 15_000, peakMs: 15_000, downMs: 3_000 };
    const { problems } = await loadSoak(engine, { minutes, ...sizes, signal: stop.signal, log });
    return problems.length === 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    log('stopped: no result');
    process.exit(EXIT_STOPPED);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

const unknown = positionals.filter((name) => RUNS[name] === undefined);
if (values.engine !== undefined && !ENGINES.includes(values.engine as EngineName)) unknown.push(values.engine);
if (unknown.length > 0) {
  log(
    `There is no ${unknown.join(', ')}; the runs are ${Object.keys(RUNS).join(', ')}, the engines ${ENGINES.join(', ')}.`,
  );
  process.exit(2);
}

const failed: string[] = [];
for (const [name, run] of Object.entries(RUNS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  log(`run ${name}`);
  if (!(await run())) failed.push(name);
}
log(failed.length === 0 ? 'all results are within their limits' : `FAILED: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
