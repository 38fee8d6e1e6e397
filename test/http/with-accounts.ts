import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { openAuthenticator } from '../../src/accounts/authenticator.ts';
import { createLogin, createPasswordCheck } from '../../src/accounts/login.ts';
import { createSessions } from '../../src/accounts/sessions.ts';
import { ensureKey } from '../../src/accounts/signing-keys.ts';
import type { Control, Intelligence } from '../../src/app/stores.ts';
import { recordChange } from '../../src/audit/request-record.ts';
import { paths } from '../../src/core/paths.ts';
import { DATASETS, type Tier } from '../../src/core/tier.ts';
import { createListCopies } from '../../src/exports/copies.ts';
import { createListBuilder } from '../../src/exports/list-builder.ts';
import { createListServices } from '../../src/exports/services.ts';
import { openNetworks } from '../../src/ingest/networks.ts';
import { INPUT_LIMITS } from '../../src/ingest/sources/format.ts';
import { createUploads } from '../../src/ingest/uploads.ts';
import type { Counters } from '../../src/limits/store.ts';
import { temporaryControl, temporaryCounters } from '../engine.ts';
import { admitAll } from './admit-all.ts';
import { BASE, build, NOW, type Overrides, ROUTES, type Services } from './build.ts';

export const PASSWORD = 'correct horse battery staple';
/** Of this password, with a low cost: with the real one, the two hashes of a test take a tenth of a second. */
const QUICK_HASH = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$ni+yE0BxyFvSLcz/IJ9+O1I3+yLOjvH+oGVpQ5O6960';
export const USERNAME = 'ada@example.com';
export const ISSUER = 'urlwarden';
const MAX_LIST_BYTES = 2 ** 27;

export type World = {
  app: FastifyInstance;
  store: Intelligence;
  control: Control;
  counters: Counters;
  /** Sets the clock of all services, in Unix seconds, and reads the accounts again. */
  setNow(ts: number): Promise<void>;
  /** Reads the accounts again now, not within a second. */
  refresh(): Promise<void>;
  /** Logs in and returns the value of the Authorization header. */
  logIn(username?: string): Promise<string>;
  sub: string;
};

export const tier = (limits: Partial<Tier>): Tier => ({
  name: 'tested',
  trs: 'base',
  ads: DATASETS,
  qms: 1_000_000,
  qmh: 1_000_000,
  rlQps: 1_000_000,
  rlQpm: 1_000_000,
  rlQph: 1_000_000,
  ...limits,
});

/** A server with one real account, whose tier has the given limits, a known URL with the id 1 on an address, and one on a domain. */
export async function withAccounts(
  t: TestContext,
  limits: Partial<Tier> = {},
  overrides: Overrides = {},
  dataAdmin: Partial<Services['dataAdmin']> = {},
): Promise<World> {
  const control = await temporaryControl(t);
  let nowMs = NOW * 1000;
  await control.putTier(tier(limits));
  await ensureKey(control, NOW);
  const sub = String(randomInt(10_000_000, 100_000_000));
  const flags = { isEnabled: true, isAdmin: false, generation: 1, createdTs: NOW };
  const names = { username: USERNAME, usernameKey: USERNAME, tier: 'tested' };
  await control.addAccount({ sub, ...names, passwordHash: QUICK_HASH, ...flags });
  const authenticator = await openAuthenticator(control, { nowMs: () => nowMs, issuer: ISSUER });
  t.after(() => authenticator.close());
  const counters = await temporaryCounters(t, control, () => nowMs);
  const clock = { nowMs: () => nowMs };
  const now = () => Math.floor(nowMs / 1000);
  const checkPassword = createPasswordCheck({ store: control, ...clock, sleep: async () => {} });
  const sessions = createSessions({ store: control, authenticator, ...clock });
  const base = admitAll(now);
  const { app, store } = await build(t, {
    observations: [
      { ts: NOW - 10, url: 'http://192.0.2.1/x', asn: 64500, payload: { sha256: 'ab'.repeat(32), family: 'Mirai' } },
      { ts: NOW - 10, url: 'http://site.example/x' },
    ],
    ...overrides,
    services: {
      authenticate: authenticator.authenticate,
      authenticateSession: sessions.authenticate,
      counters,
      login: createLogin({ checkPassword, authenticator, ...clock }),
      pages: {
        checkPassword,
        sessions,
        store: control,
        recordChange: (request, change) => recordChange(control, request, change),
        version: '1.2.3',
      },
      now,
      lists: (store) =>
        createListServices({
          store: control,
          callerOfAccount: authenticator.callerOf,
          now,
          copies: createListCopies({
            now,
            clockMs: () => nowMs,
            newestChange: store.newestChange,
            listsVersion: control.listsVersion,
            exclusions: control.exclusions,
            listSerial: control.listSerial,
            maxBytes: MAX_LIST_BYTES,
            onFailure: (error) => assert.fail(`${error}`),
            builder: createListBuilder(store, { allowReserved: true, maxBytes: MAX_LIST_BYTES, afterWork() {} }),
          }),
        }),
      portal: { usageByDay: control.usageByDay },
      control,
      ownKeys: { control },
      dataAdmin: {
        ...base.dataAdmin,
        control,
        uploads: { receive: (...upload) => uploads.receive(...upload) },
        ...dataAdmin,
      },
      ...overrides.services,
    },
  });
  const uploads = createUploads({
    store,
    control,
    now: () => NOW,
    resolvesHosts: false,
    allowReserved: true,
    limits: INPUT_LIMITS,
    networks: openNetworks(null),
  });
  t.after(() => uploads.close());
  return {
    app,
    store,
    control,
    counters,
    sub,
    refresh: authenticator.refresh,
    async setNow(ts) {
      nowMs = ts * 1000;
      await authenticator.refresh();
    },
    async logIn(username = USERNAME) {
      const payload = { username, password: PASSWORD, realm: 'intel' };
      const response = await app.inject({ method: 'POST', url: '/api/v1/login', payload });
      return `Bearer ${response.json().token}`;
    },
  };
}

const CIDR_PARTS = ':dataset/:mode/:type/:ip';

/** A valid request to every route that is charged as a query, each of weight 1. Each finds something. */
export const QUERIES: InjectOptions[] = [
  { method: 'POST', url: `${BASE}/id`, payload: { url: 'http://192.0.2.1/x' } },
  { method: 'POST', url: `${BASE}/last`, payload: { url: 'http://192.0.2.1/x' } },
  { method: 'POST', url: `${BASE}/history`, payload: { url: 'http://192.0.2.1/x' } },
  { method: 'POST', url: `${BASE}/search`, payload: { asn: 64500 } },
  { method: 'GET', url: `${BASE}/1/statuses` },
  { method: 'GET', url: `${BASE}/1/payloads` },
  { method: 'POST', url: `${BASE}/bulk`, payload: { url: 'http://192.0.2.1/x' } },
  { method: 'GET', url: paths.cidr.replace(CIDR_PARTS, 'ALL/listed/live/192.0.2.1') },
  { method: 'GET', url: paths.cidrMask.replace(CIDR_PARTS, 'ALL/listed/live/192.0.2.1').replace(':mask', '32') },
  ...ROUTES.map(({ endpoint }) => endpoint.path)
    .filter((path) => path.includes(':domain'))
    .map((path) => ({ method: 'GET' as const, url: path.replace(':domain', 'site.example') })),
  { method: 'GET', url: paths.changes },
  { method: 'GET', url: paths.list.replace(':file', 'urls-online.txt') },
  { method: 'POST', url: paths.portalListExplain.replace(':name', 'urls-online'), payload: { text: '192.0.2.1' } },
  { method: 'POST', url: paths.portalUrl, payload: { url: 'http://192.0.2.1/x' } },
  { method: 'GET', url: paths.portalAddress.replace(':ip', '192.0.2.1') },
  { method: 'GET', url: paths.portalNetwork.replace(':ip', '192.0.2.1').replace(':mask', '32') },
  { method: 'GET', url: paths.portalDomain.replace(':name', 'site.example') },
  { method: 'POST', url: paths.portalSearch, payload: { asn: 64500 } },
];

export const LIMITS: InjectOptions = { method: 'GET', url: '/api/intel/v1/limits' };

/** Routes that need a token, but no dataset, and count no query. */
export const CALLS: InjectOptions[] = [
  LIMITS,
  { method: 'GET', url: paths.portalOverview },
  { method: 'GET', url: paths.portalUsage },
];

/** The other routes that need a token and count no query. */
export const CATALOGUES: InjectOptions[] = [
  ...['tld', 'tags', 'contexts', 'dimensions'].map((name) => `/api/intel/v2/domains/${name}`),
  '/api/intel/v2/context',
].map((url) => ({ method: 'GET', url }));

/** The routes of the pages that every account may call as often as it likes. */
export const PAGES: InjectOptions[] = [
  { method: 'GET', url: paths.portalSession },
  { method: 'GET', url: paths.portalSessions },
  { method: 'POST', url: paths.portalSessionsEnd, payload: { others: true } },
  { method: 'GET', url: paths.portalLists },
  { method: 'GET', url: paths.portalListKeys },
  { method: 'POST', url: paths.portalLogout, payload: {} },
];

export const authorized = (request: InjectOptions, authorization: string): InjectOptions => ({
  ...request,
  headers: { authorization },
});
