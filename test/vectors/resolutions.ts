import type { Resolution } from '../../src/urls/resolution-rules.ts';

type Vector = { name: string; old: Resolution; given: Resolution; merged: Resolution; isChanged: boolean };

const vector = (name: string, rows: [ts: number, asn: number | null][], isChanged: boolean): Vector => {
  const [old, given, merged] = rows.map(([ts, asn]) => ({ ts, asn })) as [Resolution, Resolution, Resolution];
  return { name, old, given, merged, isChanged };
};

/** Two resolutions of one URL, address and day, in order of arrival, and the one that is stored afterwards. */
export const RESOLUTION_VECTORS: Vector[] = [
  vector(
    'the same',
    [
      [50, 64501],
      [50, 64501],
      [50, 64501],
    ],
    false,
  ),
  vector(
    'later',
    [
      [50, 64501],
      [90, 64502],
      [50, 64501],
    ],
    false,
  ),
  vector(
    'later, network missing until now',
    [
      [50, null],
      [90, 64502],
      [50, 64502],
    ],
    true,
  ),
  vector(
    'later, without a network',
    [
      [50, 64501],
      [90, null],
      [50, 64501],
    ],
    false,
  ),
  vector(
    'both without a network, later',
    [
      [50, null],
      [90, null],
      [50, null],
    ],
    false,
  ),
  vector(
    'earlier',
    [
      [50, 64501],
      [10, 64502],
      [10, 64502],
    ],
    true,
  ),
  vector(
    'earlier, without a network',
    [
      [50, 64501],
      [10, null],
      [10, 64501],
    ],
    true,
  ),
  vector(
    'earlier, network missing until now',
    [
      [50, null],
      [10, 64502],
      [10, 64502],
    ],
    true,
  ),
  vector(
    'both without a network, earlier',
    [
      [50, null],
      [10, null],
      [10, null],
    ],
    true,
  ),
  vector(
    'the same time, another network',
    [
      [50, 64501],
      [50, 64502],
      [50, 64501],
    ],
    false,
  ),
  vector(
    'the same time, network missing until now',
    [
      [50, null],
      [50, 64502],
      [50, 64502],
    ],
    true,
  ),
];
