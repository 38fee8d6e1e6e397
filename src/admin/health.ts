import { AppError } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import { adminRoute } from './route.ts';
import type { AdminServices, SystemState } from './services.ts';
import { HealthResponse } from './wire.ts';

export function healthAdminRoutes(services: AdminServices): Route[] {
  return [adminRoute(health(services))];
}

const health = ({ control, system }: AdminServices): Endpoint => ({
  method: 'GET',
  path: paths.adminHealth,
  operationId: 'adminHealth',
  summary: 'The state of the store, of Redis and of all servers',
  response: json(HealthResponse),
  read: () => undefined,
  async respond(): Promise<HealthResponse> {
    const { engine, place, isRedisUp } = system;
    const problem = await problemOf(system);
    const nodes = await control.nodes();
    return {
      store: {
        engine,
        place,
        ready: problem === null,
        problem,
        size_bytes: system.sizeBytes(),
        free_bytes: system.freeBytes(),
        faults: system.hasFaults(),
      },
      redis: { used: isRedisUp !== null, up: isRedisUp?.() ?? null, limits: system.limitsState() },
      nodes: nodes.map(({ node, name, version, startedTs, seenTs }) => ({
        node,
        name,
        version,
        started_ts: startedTs,
        seen_ts: seenTs,
        current: node === system.node,
      })),
      tables: { networks: system.hasNetworkTable },
    };
  },
});

/** Why the database cannot answer; null if it can. */
async function problemOf({ ready }: SystemState): Promise<string | null> {
  try {
    await ready();
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_ready') return error.message;
    throw error;
  }
}
