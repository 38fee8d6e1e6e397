import { Health } from '../../contract/health.ts';
import { paths } from '../../contract/paths.ts';
import type { Endpoint } from '../endpoint.ts';

export const healthz: Endpoint = {
  method: 'GET',
  path: paths.healthz,
  operationId: 'healthz',
  summary: 'Whether the process is up',
  response: { contentType: 'application/json', schema: Health },
  refusals: [],
  read: () => undefined,
  answer: async (): Promise<Health> => ({ status: 'ok' }),
};
