import { type Observation, toObservation } from '../../src/core/observation.ts';

/** 2026-01-01T00:00:00Z */
const START_TS = 1_767_225_600;
const HOSTS = 60_000;
const FILES = 1_000;
export const FAMILY = 'Mirai';

/** The i-th observation. Each has a different URL, all have the same family. */
export function observationAt(i: number): Observation {
  const host = i % HOSTS;
  const result = toObservation({
    ts: START_TS + i,
    url: `http://198.51.${host >> 8}.${host & 255}:${1024 + (i % 50_000)}/bin-${i}.sh`,
    status: i % 5 === 0 ? 'offline' : 'online',
    reporter: `reporter-${i % 10}`,
    asn: 64_496 + (i % 16),
    payload: { sha256: (i % FILES).toString(16).padStart(64, '0'), family: FAMILY },
  });
  if (!result.ok) throw new Error(result.reason);
  return result.observation;
}

/** Batches of the first `count` observations. */
export function* batches(count: number, size: number): Generator<Observation[]> {
  for (let from = 0; from < count; from += size) {
    yield Array.from({ length: Math.min(size, count - from) }, (_, i) => observationAt(from + i));
  }
}
