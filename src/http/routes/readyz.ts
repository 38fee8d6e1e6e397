import { Health } from '../../contract/health.ts';
import { paths } from '../../contract/paths.ts';
import { AppError } from '../../core/errors.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';

export const readyz: Endpoint = {
  method: 'GET',
  path: paths.readyz,
  operationId: 'readyz',
  summary: 'Whether the server can answer now',
  response: { contentType: 'application/json', schema: Health },
  refusals: [],
  read: () => undefined,
  async answer(_question, { services: { store }, times }): Promise<Health> {
    try {
      await withinBudget(store.ready(), times.queryBudgetMs);
    } catch (cause) {
      throw new AppError('unavailable', 'The store is not ready', { cause });
    }
    return { status: 'ok' };
  },
};
