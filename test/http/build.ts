import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Login } from '../../src/accounts/login.ts';
import type { SessionServices } from '../../src/accounts/session-routes.ts';
import type { DataAdminServices } from '../../src/admin/routes.ts';
import type { AdminServices } from '../../src/admin/services.ts';
import { createRoutes, type PortalParts } from '../../src/app/routes.ts';
import type { Intelligence } from '../../src/app/stores.ts';
import { type ObservationInput, toObservation } from '../../src/core/observation.ts';
import type { OwnKeyServices } from '../../src/exports/own-keys.ts';
import type { ListServices } from '../../src/exports/routes.ts';
import { watchDatabase } from '../../src/health/database-watch.ts';
import type { Outages } from '../../src/health/outages.ts';
import type { HealthServices } from '../../src/health/routes.ts';
import {
  type Authenticate,
  type AuthenticateSession,
  createFindCaller,
  type FindCaller,
} from '../../src/http/authenticate.ts';
import type { Route } from '../../src/http/endpoint.ts';
import { openapiRoute } from '../../src/http/openapi.ts';
import { buildServer, closeServer, type ServerOptions } from '../../src/http/server.ts';
import { createCharging } from '../../src/limits/charge.ts';
import type { Counters } from '../../src/limits/store.ts';
import { createAddressListCopy } from '../../src/reputation/address-lists.ts';
import { createAddressReport } from '../../src/reputation/address-report.ts';
import { createChangeViews } from '../../src/reputation/change-views.ts';
import type { ReputationServices } from '../../src/reputation/routes.ts';
import { CHECKED_TABLES } from '../../src/urls/integrity-rules.ts';
import { type CheckedTable, type Fact, NOTHING_APPLIED } from '../../src/urls/store.ts';
import { temporaryIntelligence } from '../engine.ts';
import { admitAll } from './admit-all.ts';
import { transportOptions } from './transport.ts';

/** 2026-01-01T00:00:00Z, the current time in every test. */
export const NOW = 1_767_225_600;
export const DAY = 86_400;

export const BASE = '/api/intel/v2/byobject/url';

/** The services that the app passes to the routes and the server. */
export type Services = {
  store: Intelligence;
  /** Unix seconds. */
  now(): number;
  authenticate: Authenticate;
  authenticateSession: AuthenticateSession;
  counters: Counters;
  login: Login;
  pages: SessionServices;
  reputation?: Partial<Omit<ReputationServices, 'store' | 'now'>>;
  portal?: Partial<PortalParts>;
  lists(store: Intelligence): ListServices;
  ownKeys: Omit<OwnKeyServices, 'now'>;
  control: AdminServices['control'];
  admin?: Partial<Omit<AdminServices, 'control' | 'now'>>;
  dataAdmin: Omit<DataAdminServices, 'store' | 'now'>;
} & Pick<HealthServices, 'isStopping' | 'feeds' | 'freshness' | 'limitsState' | 'hasFaults'>;

export type Overrides = {
  observations?: readonly ObservationInput[];
  services?: Partial<Services>;
  options?: ServerOptions;
};

export type Built = { app: FastifyInstance; store: Intelligence };

/** A server on a real, temporary store. Both are closed after the test. */
export async function build(t: TestContext, overrides: Overrides = {}): Promise<Built> {
  const store = overrides.services?.store ?? (await filledStore(t, overrides.observations ?? []));
  const services: Services = { store, ...admitAll(() => NOW), ...overrides.services };
  const app = serverOf(services, overrides.options);
  t.after(() => closeServer(app, 0));
  await app.ready();
  return { app, store };
}

/** The same, listening on a free loopback port. */
export async function serve(t: TestContext, overrides: Overrides = {}): Promise<Built & { port: number }> {
  const built = await build(t, { ...overrides, options: { ...transportOptions(), ...overrides.options } });
  await built.app.listen({ host: '127.0.0.1', port: 0 });
  return { ...built, port: (built.app.server.address() as AddressInfo).port };
}

async function filledStore(t: TestContext, observations: readonly ObservationInput[]): Promise<Intelligence> {
  const store = await temporaryIntelligence(t);
  if (observations.length > 0) await store.apply(observations.map(observed));
  return store;
}

export function observed(input: ObservationInput) {
  const parsed = toObservation(input);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.reason);
  return parsed.observation;
}

/** A page of search results. */
export function linesOf(facts: Fact[]): string {
  return facts.map((fact) => `${JSON.stringify(fact)}\n`).join('');
}

/** Of empty tables. */
export const NO_IDS = Object.fromEntries(CHECKED_TABLES.map((table) => [table, 0])) as Record<CheckedTable, number>;

/** An empty store in which a test replaces single methods. */
export function stubStore(methods: Partial<Intelligence>): Intelligence {
  return {
    apply: async () => NOTHING_APPLIED,
    applyFiles: async () => 0,
    listingEffect: async () => ({ online: 0, goingOffline: 0 }),
    finishListing: async () => ({ wentOffline: 0 }),
    exportObservations: async function* () {},
    exportUrls: async function* () {},
    urlsForList: async function* () {},
    listingsForList: async function* () {},
    domainsForList: async function* () {},
    domainStates: async (names) => names.map(() => null),
    nameLists: async () => new Map(),
    nameListsBelowHosts: async () => new Map(),
    hasNameLists: async () => false,
    domainsAt: async (networks) => networks.map(() => 0),
    networklessAddresses: async function* () {},
    setNetworks: async () => 0,
    lastIds: async () => NO_IDS,
    familyNames: async () => [],
    checkRows: async () => ({ rows: 0, faults: [], next: null }),
    repairRows: async () => ({ rows: 0, faults: [], next: null, repaired: [] }),
    urlDetails: async () => null,
    lastStoredUrls: async () => [],
    urlSummaries: async () => [],
    countUrls: async () => ({ urls: 0, online: 0, newest: [], next: null }),
    namesAt: async () => ({ names: [], isComplete: true }),
    countListings: async () => ({ live: 0, next: null }),
    countDomains: async () => ({ domains: 0, next: null }),
    putSources: async () => {},
    sourceNames: async () => new Map(),
    applyListings: async () => 0,
    applyDomains: async () => 0,
    applyLists: async () => 0,
    listEffect: async () => ({ entries: 0, missing: 0 }),
    finishList: async () => 0,
    listings: () => [],
    listVersion: () => 0,
    addressLists: async () => ({ entries: [], removals: [], longestLifeSeconds: 0 }),
    removeListings: async () => {},
    removeAllowEntries: async () => 0,
    domainState: () => null,
    domainHostnames: async () => [],
    domainUrls: async () => [],
    domainFiles: async () => [],
    domainAddresses: async () => [],
    domainSenders: async () => [],
    setDomain: async (_name, change) => ({
      before: null,
      settings: { human: 0, isAbused: null, reason: '', ...change },
    }),
    setDomains: async () => [],
    exportListings: async function* () {},
    exportDomains: async function* () {},
    rebuildHosts: async () => ({ isDone: true, share: 1, hostsChanged: 0, urlsChanged: 0 }),
    newestChange: () => 0,
    oldestCursor: () => 0,
    changesAfter: async (after) => ({ changes: [], lastSeq: after }),
    removeOldChanges: async () => null,
    currentListings: () => [],
    currentDomain: () => null,
    urlId: async () => null,
    urlLast: async () => null,
    lastOfMany: async (urls) => urls.map(() => null),
    urlHistory: async () => null,
    hasUrl: async () => false,
    statuses: async function* () {},
    payloads: async function* () {},
    search: async function* () {},
    ready: async () => {},
    freeBytes: () => null,
    close: async () => {},
    ...methods,
  };
}

type Answer = { statusCode: number; headers: Record<string, unknown>; body: string };

/** Checks an error response. Its body has the same shape in every layer. */
export function assertError(response: Answer, status: number, message?: RegExp): void {
  assert.equal(response.statusCode, status, response.body);
  assert.match(String(response.headers['content-type']), /^application\/json(;|$)/);
  const body = JSON.parse(response.body);
  assert.deepEqual(Object.keys(body).sort(), ['code', 'message']);
  assert.equal(body.code, status);
  assert.equal(typeof body.message, 'string');
  assert.notEqual(body.message, '');
  if (message) assert.match(body.message, message);
}

export function lines(body: string): unknown[] {
  if (body === '') return [];
  assert.ok(body.endsWith('\n'), 'the last line ends with a newline');
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Polls until the condition is true. Fails after tries that take twenty seconds or more. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    assert.ok(tries < MAX_TRIES, 'the condition did not become true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const MAX_TRIES = 4_000;

/** Waits until a number above zero does not change for a while. */
export async function settled(read: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await until(() => {
    same = read() === last && last > 0 ? same + 1 : 0;
    last = read();
    return same === 20;
  });
  return last;
}

const NO_OUTAGES: Outages = { report: () => false, isDamaged: () => false, update: () => {} };

/** Builds the server as the app does. */
export function serverOf(services: Services, options?: ServerOptions): FastifyInstance {
  const { store, counters, isStopping, limitsState, hasFaults, freshness, feeds } = services;
  const reputation = { ...reputationOf(store, services.now), ...services.reputation };
  const portal = { ...NO_PORTAL, ...services.portal };
  const { ready } = watchDatabase({ check: store.ready, outages: NO_OUTAGES, nowMs: Date.now, every: () => () => {} });
  const health = { isStopping, ready, hasFaults, freshness, feeds, ...(limitsState && { limitsState }) };
  const charging = createCharging(counters);
  options?.metrics?.watchStreams(counters.countStreams);
  const admin = adminOf({ ...services, ready });
  const changes = changesOf(store, services);
  const routes = createRoutes({
    ...services,
    health,
    reputation,
    changes,
    portal,
    admin,
    lists: services.lists(store),
  });
  return buildServer(routes, { findCaller: findCallerOf(services), charging }, options);
}

function adminOf({ store, control, hasFaults, ready, admin }: Services & { ready(): Promise<void> }) {
  const state = { ready, hasFaults, freeBytes: store.freeBytes, sizeBytes: () => null, isRedisUp: null };
  const fixed = { engine: 'sqlite' as const, place: 'data', node: 'this-node', hasNetworkTable: false };
  const system = { ...fixed, ...state, limitsState: () => 'local' as const };
  return { control, hasKeyFile: false, deleteAccountKeys: null, system, ...admin };
}

const NO_PORTAL: PortalParts = {
  usageByDay: async () => [],
  totals: () => ({ countedTs: null, urls: null, online: null, listings: null, domains: null, newestIds: [] }),
  feeds: async () => [],
  networkOf: () => null,
  nameOf: () => null,
};

/** Answers also for documentation addresses. */
function reputationOf(store: Intelligence, now: () => number) {
  const lists = createAddressListCopy(store, { nowMs: () => now() * 1000 });
  return { addresses: createAddressReport({ store, lists, now, allowReserved: true }), asnOf: () => null };
}

type Authentication = Pick<Services, 'authenticate' | 'authenticateSession'>;

export const findCallerOf = ({ authenticate, authenticateSession }: Authentication): FindCaller =>
  createFindCaller(authenticate, authenticateSession);

function changesOf(store: Intelligence, services: Pick<Services, 'now' | 'isStopping'> & Authentication) {
  const { now, isStopping } = services;
  const lists = createAddressListCopy(store, { nowMs: () => now() * 1000 });
  const current = { listings: store.currentListings, domainState: store.currentDomain };
  const views = createChangeViews({ store: current, lists, now, allowReserved: true });
  return { views, isStopping, findCaller: findCallerOf(services) };
}

/** Values for the parameters of paths. */
const EXAMPLES: Record<string, string> = {
  id: '1',
  dataset: 'ALL',
  mode: 'listed',
  type: 'live',
  ip: '192.0.2.1',
  mask: '32',
  domain: 'site.example',
  username: 'ada',
  name: 'site.example',
  file: 'urls-online.txt',
  key: `uwk_${'0'.repeat(40)}`,
};

/** A path that exists, from the path of an endpoint. */
export const exampleOf = (path: string): string => path.replace(/:(\w+)/g, (_all, name) => EXAMPLES[name] ?? '');

const tableOf = (routes: Route[]): Route[] => [...routes, openapiRoute(routes)];

/** All routes, for tests that check each of them. Their store is empty. */
export const ROUTES = tableOf(routesOfStub({ store: stubStore({}), ...admitAll(() => NOW) }));

function routesOfStub(services: Services): Route[] {
  const ready = async () => {};
  const reputation = reputationOf(services.store, services.now);
  return createRoutes({
    ...services,
    lists: services.lists(services.store),
    reputation,
    changes: changesOf(services.store, services),
    portal: NO_PORTAL,
    health: { ...services, ready },
    admin: adminOf({ ...services, ready }),
  });
}
