import { parseArgs } from 'node:util';
import { importKillLoop } from './import-kill.ts';
import { killLoop } from './kill.ts';
import { moveSoak } from './move.ts';
import { streamSoak } from './stream.ts';

// The long runs: npm run soak. Short versions of all are among the tests.

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '50' } },
});
const IMPORT_KILLS = 20;
const say = (text: string) => process.stdout.write(`${text}\n`);

const kill = await killLoop({
  rounds: Number(values.kills),
  observations: 40_000,
  batchSize: 2_000,
  maxDelayMs: 3_000,
});
say(`kill -9 in ${kill.killed} of ${values.kills} runs: ${JSON.stringify(kill.faults)}, same state: ${kill.sameState}`);

const imports = await importKillLoop({ kills: IMPORT_KILLS, rows: 20_000 });
say(`kill -9 in ${imports.killed} imports: ${JSON.stringify(imports.faults)}, same export: ${imports.sameState}`);

const stream = await streamSoak(Number(values.rows), say);
for (const [name, value] of Object.entries(stream)) say(`${name.padEnd(16)} ${Number(value.toFixed(2))}`);

const { differences, ...move } = await moveSoak(Number(values.rows), 10_000, say);
for (const [name, value] of Object.entries(move)) say(`${name.padEnd(16)} ${value}`);
say(`different answers after the move: ${differences.length}`);

const isGood =
  kill.faults.length === 0 &&
  kill.sameState &&
  imports.faults.length === 0 &&
  imports.sameState &&
  imports.killed === IMPORT_KILLS &&
  stream.rows === Number(values.rows) &&
  stream.grownMb < 64 &&
  stream.lastBesideP99Ms < 50 &&
  stream.loopDelayP999Ms < 10 &&
  move.isFinished &&
  move.sameExport &&
  differences.length === 0;
say(isGood ? 'all within their bounds' : 'OUT OF BOUNDS');
process.exitCode = isGood ? 0 : 1;
