import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Endpoint, Route } from '../../src/http/endpoint.ts';
import { buildServer, closeServer, type ServerOptions, type ServerServices } from '../../src/http/server.ts';
import { createCharging } from '../../src/limits/charge.ts';
import { admitAll } from './admit-all.ts';
import { findCallerOf, NOW } from './build.ts';

export const CUSTOM_PATH = '/custom';

/** A route that is not part of Urlwarden, open and free of charge unless the test changes that. */
export function customRoute(endpoint: Partial<Endpoint>, route: Partial<Omit<Route, 'endpoint'>> = {}): Route {
  return {
    endpoint: {
      method: 'GET',
      path: CUSTOM_PATH,
      operationId: 'custom',
      summary: 'A route of a test',
      response: { contentType: 'text/plain' },
      read: () => undefined,
      respond: async () => 'ok',
      ...endpoint,
    },
    access: 'open',
    charge: 'none',
    ...route,
  };
}

/** A server with this route only. Every caller is the operator unless the test changes that. */
export async function serverWith(
  t: TestContext,
  route: Route,
  services: Partial<ServerServices> = {},
  options: ServerOptions = {},
): Promise<FastifyInstance> {
  const admitted = admitAll(() => NOW);
  const charging = createCharging(admitted.counters);
  const app = buildServer([route], { findCaller: findCallerOf(admitted), charging, ...services }, options);
  t.after(() => closeServer(app, 0));
  await app.ready();
  return app;
}
