import type { LimitsResponse } from '../src/limits/wire.ts';
import { get, tightestLimit } from './api.ts';
import { counted, NO_LIMIT, numberText, spanText } from './format.ts';

// What is left of the limits of the account.

/** The response of the public API. `current` counts what is used; its `qpm` is of the month, its `qpd` of the day. */
export type Limits = Pick<LimitsResponse, 'limits' | 'current'>;

export const getLimits = (abort?: AbortSignal): Promise<Limits> => get<Limits>('/api/intel/v1/limits', abort);

export const LIMIT_WORDS: Record<string, string> = {
  qmh: 'this month',
  rl_qph: 'this hour',
  rl_qpm: 'this minute',
  rl_qps: 'this second',
  calls: 'this second',
};

const REACHED = /^The limit (\w+) is reached/;

/** What the API says about a limit, for people. The time is left out: the page counts it down. */
export function reachedText(message: string): string {
  const name = REACHED.exec(message)?.[1];
  if (name === undefined) return message.replace(/; try again in \d+ s, at .*/s, '.');
  if (name === 'streams') return 'Your account has as many results open as it may. Wait until one of them is complete.';
  return `Your limit is used up${LIMIT_WORDS[name] === undefined ? '' : ` ${LIMIT_WORDS[name]}`}.`;
}

/** For the frame, until a charged response says more. */
export async function readMonth(): Promise<void> {
  const response = await getLimits().catch(() => null);
  if (response === null || tightestLimit.value !== null) return;
  const { limits, current } = response;
  const now = new Date();
  const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const resetsInSeconds = Math.ceil((endMs - now.getTime()) / 1_000);
  tightestLimit.value = { name: 'qmh', left: Math.max(0, limits.qmh - current.qpm), resetsInSeconds };
}

type Window = { words: string; limit: number; left: number; seconds: number };

const HOUR = 3_600;
const MINUTE = 60;

/** The limits that a long list can reach, the longest window first. `seconds` is 0 for the month: nobody waits for it. */
function windowsOf({ limits, current }: Limits): Window[] {
  const windows = [
    { words: 'this month', limit: limits.qmh, used: current.qpm, seconds: 0 },
    { words: 'this hour', limit: limits.rl_qph, used: current.rl_qph, seconds: HOUR },
    { words: 'this minute', limit: limits.rl_qpm, used: current.rl_qpm, seconds: MINUTE },
  ];
  return windows
    .filter(({ limit }) => limit < NO_LIMIT)
    .map(({ words, limit, used, seconds }) => ({ words, limit, left: Math.max(0, limit - used), seconds }));
}

/** `300 left this month, 20 left this minute`; null without limits. */
export function leftText(response: Limits): string | null {
  const texts = windowsOf(response).map(({ words, left }) => `${numberText(left)} left ${words}`);
  return texts.length === 0 ? null : texts.join(', ');
}

/** A shorter wait needs no words. */
const SHORT_SECONDS = 10;

/** What will happen to a list that costs so many queries; null if nothing stands in the way. */
export function fitText(cost: number, response: Limits): string | null {
  const small = windowsOf(response).filter(({ left }) => left < cost);
  const [first] = small.toSorted((a, b) => a.left - b.left);
  if (first === undefined) {
    const seconds = cost / response.limits.rl_qps;
    if (seconds < SHORT_SECONDS) return null;
    return `It takes about ${spanText(seconds)}: your limit is ${counted(response.limits.rl_qps, 'query', 'queries')} a second.`;
  }
  const { words, limit, left, seconds } = first;
  const start =
    left === 0 ? `Nothing is left ${words}` : `It stops after ${counted(left, 'URL')}: that is what is left ${words}`;
  if (seconds === 0 || limit === 0) return `${start}.`;
  const month = small.find((window) => window.seconds === 0);
  if (month !== undefined)
    return `${start}. You can go on when there is room again, but ${month.words} has room for only ${numberText(month.left)}.`;
  const waits = small.map((window) => Math.ceil((cost - window.left) / window.limit) * window.seconds);
  return `${start}. You can go on when there is room again; all of it takes about ${spanText(Math.max(...waits))}.`;
}
