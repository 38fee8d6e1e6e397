import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logIn, operatorOf, startServer } from '../shared/server-process.ts';

type UsageKillResult = {
  /** The number of responses one second before the kill, and at the kill. */
  answeredBefore: number;
  answered: number;
  /** The usage that the server reports after its restart. */
  counted: number;
};

const QUERY = JSON.stringify({ url: 'http://192.0.2.1/' });
const ALLOWED_LOSS_MS = 1_000;

/** Sends queries, kills the server with `kill -9`, and reads the usage after a restart. */
export async function usageKill(runMs: number): Promise<UsageKillResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-usage-'));
  try {
    const first = await startServer(dataDir);
    const authorization = await logIn(first.url, operatorOf(dataDir));
    const answeredMs: number[] = [];
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await fetch(`${first.url}/api/intel/v2/byobject/url/last`, {
          method: 'POST',
          headers: { authorization },
          body: QUERY,
        });
        answeredMs.push(performance.now());
      }
    })().catch(() => {});
    await sleep(runMs);
    isOver = true;
    const killedMs = performance.now();
    await first.stop('SIGKILL');
    await sending;
    const second = await startServer(dataDir);
    const limits = await fetch(`${second.url}/api/intel/v1/limits`, { headers: { authorization } });
    const { current } = (await limits.json()) as { current: { qpm: number } };
    await second.stop();
    return {
      answeredBefore: answeredMs.filter((ms) => ms < killedMs - ALLOWED_LOSS_MS).length,
      answered: answeredMs.length,
      counted: current.qpm,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
