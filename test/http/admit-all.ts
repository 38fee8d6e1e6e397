import type { SessionServices } from '../../src/accounts/session-routes.ts';
import { BUILT_IN_TIERS, limitsOf, OPERATOR_TIER } from '../../src/core/tier.ts';
import { BUILT_IN_LISTS } from '../../src/exports/built-in.ts';
import type { ListServices } from '../../src/exports/routes.ts';
import { memoryCounters } from '../limits/process-counters.ts';
import type { Services } from './build.ts';

const operatorTier = BUILT_IN_TIERS.find(({ name }) => name === OPERATOR_TIER) ?? unexpectedCall();

export const OPERATOR = {
  account: {
    sub: '10000000',
    username: 'operator',
    usernameKey: 'operator',
    passwordHash: '',
    tier: OPERATOR_TIER,
    isEnabled: true,
    isAdmin: false,
    generation: 1,
    createdTs: 0,
  },
  limits: limitsOf(operatorTier),
};

/** Services for tests that are not about accounts: every caller is the operator, and no counts are stored. */
export function admitAll(now: () => number): Omit<Services, 'store'> {
  const usage = { usage: async () => ({ day: 0, month: 0 }), addUsage: async () => {} };
  return {
    now,
    authenticate: () => OPERATOR,
    authenticateSession: async () => OPERATOR,
    counters: memoryCounters(usage, { nowMs: () => now() * 1000 }),
    login: async () => unexpectedCall(),
    pages: {
      checkPassword: async () => unexpectedCall(),
      sessions: {
        authenticate: async () => unexpectedCall(),
        start: async () => unexpectedCall(),
        list: async () => [],
        end: async () => 0,
      },
      store: {} as SessionServices['store'],
      recordChange: async () => unexpectedCall(),
      version: '0.0.0',
    },
    lists: () => EMPTY_LISTS,
    ownKeys: { control: NO_KEYS },
    control: NO_CONTROL,
    isStopping: () => false,
    hasFaults: () => false,
    freshness: async () => ({ newestEventTs: null, confirmedTs: null }),
    feeds: async () => [],
    dataAdmin: {
      control: NO_CONTROL,
      uploads: { receive: async () => unexpectedCall() },
      feedsAllowPrivate: [],
      allowReserved: true,
      wakeFeeds: () => {},
    },
  };
}

const NO_BYTES = new Uint8Array();

const NO_ENTRIES = {
  serial: 1,
  count: 0,
  leftOut: {},
  staleSinceTs: null,
  bytes: NO_BYTES,
  etags: { identity: '"plain"', gzip: '"gzip"', zstd: '"zstd"' },
};

/** The built-in lists, without entries. Every key is one of the operator. */
export const EMPTY_LISTS: ListServices = {
  definition: async (name) => BUILT_IN_LISTS.find((list) => list.name === name) ?? null,
  copy: () => NO_ENTRIES,
  keptCopy: () => NO_ENTRIES,
  all: async () => [...BUILT_IN_LISTS],
  known: () => [],
  explain: async (_, text) => ({ subject: text, isOnList: false, reasons: [{ reason: 'unknown', text }] }),
  callerOfKey: async () => OPERATOR,
  fetched: () => {},
  now: () => 0,
};
const NO_KEYS = {
  listDefinitions: async () => [],
  listKeys: async () => [],
  listKey: async () => null,
} as Partial<Services['ownKeys']['control']> as Services['ownKeys']['control'];

/** Only administrators reach it, and no caller of these tests is one. */
const NO_CONTROL = new Proxy({} as Services['control'] & Services['dataAdmin']['control'], {
  get: () => unexpectedCall,
});

function unexpectedCall(): never {
  throw new Error('not part of this test');
}
