import type { HealthResponse } from '../src/admin/wire.ts';
import { bytesText, nowTs, spanText, type Tone, visible } from './format.ts';

// The health of the servers in words. The response is in src/admin/wire.ts.

/** Nodes write every 20 s that they run: after three times that, one is away. */
const NODE_AWAY_SECONDS = 60;
/** Below this the store may soon not be able to write. */
const LITTLE_SPACE_BYTES = 2_000_000_000;

type HealthLine = { tone: Tone; state: string; text: string };

/** One line each about store, disk, Redis and servers. */
export function healthLines({ store, redis, nodes }: HealthResponse, now: number = nowTs()): HealthLine[] {
  return [storeLine(store), ...spaceLine(store.free_bytes), redisLine(redis), nodesLine(nodes, now)];
}

export const ENGINE_WORDS = { sqlite: 'The embedded store', postgres: 'PostgreSQL' };

function storeLine({ engine, ready, problem, faults }: HealthResponse['store']): HealthLine {
  const name = ENGINE_WORDS[engine];
  if (!ready) return { tone: 'danger', state: 'down', text: `${name} does not answer: ${visible(problem ?? '')}` };
  if (faults) {
    const text = `${name} answers, but has rows that contradict each other. Run urlwarden integrity.`;
    return { tone: 'late', state: 'faults', text };
  }
  return { tone: 'ok', state: 'well', text: `${name} answers.` };
}

function spaceLine(free: number | null): HealthLine[] {
  if (free === null || free >= LITTLE_SPACE_BYTES) return [];
  return [{ tone: 'late', state: 'full soon', text: `Only ${bytesText(free)} are free on the disk of the store.` }];
}

function redisLine({ used, up, limits }: HealthResponse['redis']): HealthLine {
  if (!used) return { tone: 'off', state: 'not used', text: 'Redis is not used: each server counts queries alone.' };
  if (up) return { tone: 'ok', state: 'well', text: 'Redis answers: all servers count queries together.' };
  if (limits === 'refused') return { tone: 'danger', state: 'down', text: 'Redis is down, and queries are refused.' };
  return { tone: 'late', state: 'down', text: 'Redis is down: each server counts queries alone until it is back.' };
}

export const isAway = ({ seen_ts: seenTs }: { seen_ts: number }, now: number = nowTs()): boolean =>
  now - seenTs > NODE_AWAY_SECONDS;

function nodesLine(nodes: HealthResponse['nodes'], now: number): HealthLine {
  const away = nodes.filter((node) => isAway(node, now));
  const running = nodes.length - away.length;
  const count = running === 1 ? 'One server runs.' : `${running} servers run.`;
  const newest = away.toSorted((a, b) => b.seen_ts - a.seen_ts)[0];
  if (newest === undefined) return { tone: 'ok', state: 'well', text: count };
  const quiet = `${visible(newest.name)} was last seen ${spanText(now - newest.seen_ts)} ago.`;
  return { tone: 'late', state: 'quiet', text: `${count} ${quiet}` };
}
