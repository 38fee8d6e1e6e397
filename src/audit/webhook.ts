import { createHmac } from 'node:crypto';
import { monthText } from '../core/quota.ts';
import type { ClaimedEvent, SoftLimitEvent, SoftLimitStore } from './store.ts';

/** Sends a body by POST. Throws unless the receiver has accepted it. */
type Post = (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<void>;

export type WebhookEnd = { outcome: 'delivered' } | { outcome: 'failed' | 'given_up'; error: unknown };

type WebhookOptions = {
  store: Pick<SoftLimitStore, 'claimSoftLimitEvent' | 'endSoftLimitAttempt'>;
  secret: string;
  post: Post;
  now(): number;
  onEnd(event: SoftLimitEvent, end: WebhookEnd): void;
};

/** Longer than `post` may take: another node sends the event again only if this one has ended. */
const LEASE_SECONDS = 120;

/** With these waits an event is given up after 20 hours: a receiver that fails at night can be repaired in the morning. */
const ATTEMPTS_MAX = 14;
const FIRST_WAIT_SECONDS = 30;
const WAIT_MAX_SECONDS = 4 * 3_600;

/** The reason why an attempt failed is only read by people. */
const ERROR_MAX_LENGTH = 500;

/** Sends all events whose time has come, one after the other, until there are none or the signal aborts. */
export async function sendDueEvents(options: WebhookOptions, signal: AbortSignal): Promise<void> {
  const { store, now, onEnd } = options;
  while (!signal.aborted) {
    const event = await store.claimSoftLimitEvent(now(), now() + LEASE_SECONDS);
    if (event === null) return;
    onEnd(event, await sendEvent(event, options, signal));
  }
}

async function sendEvent(event: ClaimedEvent, options: WebhookOptions, signal: AbortSignal): Promise<WebhookEnd> {
  const { store, secret, post, now } = options;
  const body = eventBody(event);
  try {
    await post(body, signedHeaders(secret, now(), body), signal);
  } catch (error) {
    // A stop is not a failure of the receiver: the next process sends it at once.
    const nextTs = signal.aborted ? now() : nextAttempt(event.attempts, now());
    const message = String((error as Error).message).slice(0, ERROR_MAX_LENGTH);
    await store.endSoftLimitAttempt(event, { deliveredTs: null, nextTs, error: message });
    return { outcome: nextTs === null ? 'given_up' : 'failed', error };
  }
  await store.endSoftLimitAttempt(event, { deliveredTs: now(), nextTs: null, error: null });
  return { outcome: 'delivered' };
}

/** 30 s after the first failure, then twice as long each time, up to 4 hours. Null after the last attempt. */
export function nextAttempt(attempts: number, nowTs: number): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  return nowTs + Math.min(WAIT_MAX_SECONDS, FIRST_WAIT_SECONDS * 2 ** (attempts - 1));
}

/** The keys are stable; docs/operating.md describes them. */
function eventBody({ id, sub, username, tier, limit, count, month, ts }: SoftLimitEvent): string {
  return JSON.stringify({
    event: 'account.soft-limit',
    id,
    ts,
    sub,
    username,
    tier,
    limit,
    count,
    month: monthText(month),
  });
}

/**
 * The signature is over time and body, so that a recorded request cannot be sent again later: the receiver refuses old
 * times. `v1` allows another algorithm in addition to it one day.
 */
export function signedHeaders(secret: string, ts: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('hex');
  return {
    'content-type': 'application/json',
    'urlwarden-timestamp': String(ts),
    'urlwarden-signature': `v1=${signature}`,
  };
}
