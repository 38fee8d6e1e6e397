import { parseArgs } from 'node:util';
import { importKillLoop } from './import-kill.ts';
import { killLoop } from './kill.ts';
import { moveSoak } from './move.ts';
import { streamSoak } from './stream.ts';

// npm run soak: the long runs. test/tools has short versions of them.

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '50' } },
});
const IMPORT_KILLS = 20;
const log = (text: string) => process.stdout.write(`${text}\n`);

const kill = await killLoop({
  rounds: Number(values.kills),
  observations: 40_000,
  batchSize: 2_000,
  maxDelayMs: 3_000,
});
log(
  `kill -9 in ${kill.killed} of ${values.kills} runs: faults ${JSON.stringify(kill.faults)}, same state: ${kill.sameState}`,
);

const imports = await importKillLoop({ kills: IMPORT_KILLS, rows: 20_000 });
log(
  `kill -9 in ${imports.killed} imports: faults ${JSON.stringify(imports.faults)}, same export: ${imports.sameState}`,
);

const stream = await streamSoak(Number(values.rows), log);
for (const [name, value] of Object.entries(stream)) log(`${name.padEnd(16)} ${Number(value.toFixed(2))}`);

const { differences, ...move } = await moveSoak(Number(values.rows), 10_000, log);
for (const [name, value] of Object.entries(move)) log(`${name.padEnd(16)} ${value}`);
log(`different responses after the move: ${differences.length}`);

const isPassed =
  kill.faults.length === 0 &&
  kill.sameState &&
  imports.faults.length === 0 &&
  imports.sameState &&
  imports.killed === IMPORT_KILLS &&
  stream.rows === Number(values.rows) &&
  stream.grownMb < 64 &&
  stream.lastDuringP99Ms < 50 &&
  stream.loopDelayP999Ms < 10 &&
  move.isFinished &&
  move.sameExport &&
  differences.length === 0;
log(isPassed ? 'all results are within their limits' : 'FAILED: a result is outside its limit');
process.exitCode = isPassed ? 0 : 1;
