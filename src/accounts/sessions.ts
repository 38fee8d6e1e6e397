import { createHash, randomBytes } from 'node:crypto';
import { createBatchedFind } from '../core/batched-find.ts';
import { AppError } from '../core/errors.ts';
import { createExpiringMap } from '../core/expiring-map.ts';
import { toTs } from '../core/time.ts';
import type { CallerSession } from '../http/endpoint.ts';
import type { Authenticator } from './authenticator.ts';
import type { AccountCaller } from './snapshot.ts';
import type { Account, Session, SessionBounds, SessionStore } from './store.ts';

/**
 * Logins by page. The cookie is random and only its hash is stored, so that a copy of the database lets nobody in:
 *
 *     cookie → its hash → session, at most two seconds old → account (`authenticator.ts`)
 */
export type Sessions = {
  /** Throws `unauthorized`, `forbidden` or `unavailable`. */
  authenticate(cookie: string): Promise<AccountCaller & { session: CallerSession }>;
  start(account: Pick<Account, 'sub' | 'generation'>, browser: Browser): Promise<StartedSession>;
  /** Those that have not ended, the last used first. */
  list(sub: string): Promise<Session[]>;
  /** Ends this session of the account, or with `others` all but this one; returns how many. */
  end(sub: string, id: string, which: 'this' | 'others'): Promise<number>;
};

export type Browser = { address: string; agent: string };

/** `cookie` has to be sent to the browser; it is not stored. */
export type StartedSession = { cookie: string; session: CallerSession };

type SessionsOptions = {
  store: SessionStore;
  authenticator: Pick<Authenticator, 'callerAt' | 'refresh'>;
  nowMs: () => number;
  /** Called when the time of the last use could not be written. */
  onFailure?: (error: unknown) => void;
};

/** A working day with its breaks; people who come back the next morning log in again. */
const IDLE_SECONDS = 12 * 3_600;
/** A stolen cookie is of no use after this, whatever its thief does. */
export const MAX_SESSION_SECONDS = 7 * 86_400;
/** Clocks of nodes differ by much less. A session that starts later is that of a clock that was ahead, and would live too long. */
const AHEAD_SECONDS = 3_600;
/** Written at most this often, so that reading does not become writing. */
const TOUCH_SECONDS = 300;

/** Ended sessions are refused within five seconds on every node; the accounts here are up to a second old as well. */
const CACHE_MS = 2_000;
/** 4 MB at 0.4 kB each. A session that was evicted is read again. */
const MAX_CACHED = 10_000;

type CachedSession = { found: Promise<Session | null>; readMs: number };

/** Sessions that have reached the maximum are no longer used, so the time of the last use finds all that have ended. */
const BOUNDS: Omit<SessionBounds, 'keepSince'> = {
  /** More than anybody needs; few enough to list them all. */
  maxPerAccount: 100,
  /** More than a login adds, so that the table shrinks. */
  maxDeleted: 1_000,
};

const COOKIE_BYTES = 32;
/** 32 bytes in base64url. */
const COOKIE = /^[\w-]{43}$/;

/** Headers may have 16 kB; longer texts say nothing more about a browser. */
const AGENT_MAX_LENGTH = 300;
/** A proxy may send any text. The longest address has 45 characters. */
const ADDRESS_MAX_LENGTH = 64;

export function createSessions({ store, authenticator, nowMs, onFailure = () => {} }: SessionsOptions): Sessions {
  const cache = createExpiringMap<CachedSession>({ maxEntries: MAX_CACHED, lifeMs: CACHE_MS });
  const findSession = createBatchedFind(async (ids) => {
    const found = await store.findSessions(ids);
    return new Map(found.map((session) => [session.id, session]));
  });

  function read(id: string): Promise<Session | null> {
    const now = nowMs();
    const cached = cache.get(id, now);
    // The clock may have been set back.
    if (cached !== undefined && cached.readMs <= now) return cached.found;
    const found = findSession(id);
    cache.set(id, { found, readMs: now }, now);
    found.catch(() => cache.delete(id));
    return found;
  }

  /** The request does not wait for the write: it must be answered also while the database accepts none. */
  function touch(session: Session, ts: number): void {
    if (ts - session.usedTs < TOUCH_SECONDS) return;
    session.usedTs = ts; // the next requests find it in the cache, and do not write again
    void store.touchSession(session.id, ts).catch(onFailure);
  }

  return {
    async authenticate(cookie) {
      const session = COOKIE.test(cookie) ? await read(idOf(cookie)) : null;
      const ts = toTs(nowMs());
      if (session === null || isOver(session, ts)) throw sessionOver();
      const caller = await authenticator.callerAt(session.sub, session.generation);
      if (caller === null) throw sessionOver();
      touch(session, ts);
      return { ...caller, session: toCallerSession(session) };
    },

    async start({ sub, generation }, { address, agent }) {
      const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
      const ts = toTs(nowMs());
      const session = {
        id: idOf(cookie),
        sub,
        generation,
        createdTs: ts,
        usedTs: ts,
        address: address.slice(0, ADDRESS_MAX_LENGTH),
        agent: agent.slice(0, AGENT_MAX_LENGTH),
      };
      await store.addSession(session, { ...BOUNDS, keepSince: ts - IDLE_SECONDS });
      await authenticator.refresh(); // the generation may be newer than the snapshot
      return { cookie, session: toCallerSession(session) };
    },

    async list(sub) {
      const ts = toTs(nowMs());
      return (await store.sessions(sub)).filter((session) => !isOver(session, ts));
    },

    async end(sub, id, which) {
      const ids = which === 'this' ? [id] : (await store.sessions(sub)).map((session) => session.id);
      const ended = await store.endSessions(sub, id, which);
      for (const one of ids) cache.delete(one);
      return ended;
    },
  };
}

function idOf(cookie: string): string {
  return createHash('sha256').update(cookie).digest('hex');
}

function isOver(session: Session, ts: number): boolean {
  return expiryOf(session) <= ts || session.createdTs > ts + AHEAD_SECONDS;
}

function expiryOf({ createdTs, usedTs }: Session): number {
  return Math.min(usedTs + IDLE_SECONDS, createdTs + MAX_SESSION_SECONDS);
}

function toCallerSession(session: Session): CallerSession {
  return { id: session.id, createdTs: session.createdTs, expiresTs: expiryOf(session) };
}

function sessionOver(): AppError {
  return new AppError('unauthorized', 'The session has ended; log in again');
}
