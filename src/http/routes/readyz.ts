import { Readiness } from '../../contract/health.ts';
import { paths } from '../../contract/paths.ts';
import { AppError } from '../../core/errors.ts';
import { feedState } from '../../ingest/feed-times.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint, Services } from '../endpoint.ts';
import { verboseParameter } from '../parameters.ts';
import { queryOf, switchOf } from '../query.ts';

type ReadyQuestion = { isVerbose: boolean };

/** A stale feed, or a Redis that can be done without, is told and no more: such a server is better than none. */
export const readyz: Endpoint<ReadyQuestion> = {
  method: 'GET',
  path: paths.readyz,
  operationId: 'readyz',
  summary: 'Whether the server can answer now, and with `verbose` how its feeds and limits are',
  parameters: [verboseParameter],
  response: { contentType: 'application/json', schema: Readiness },
  refusals: [],
  read: (request) => ({ isVerbose: switchOf(queryOf(request), 'verbose') }),
  async answer({ isVerbose }, { services, times }): Promise<Readiness> {
    const limits = services.countedWhere?.();
    if (limits === 'refused') throw new AppError('overloaded', 'The counters of queries are away');
    try {
      await withinBudget(services.store.ready(), times.queryBudgetMs);
      if (!isVerbose) return { status: 'ok' };
      return { status: 'ok', ...(limits === undefined ? {} : { limits }), feeds: await feedHealth(services) };
    } catch (cause) {
      throw new AppError('unavailable', 'The store is not ready', { cause });
    }
  },
};

/** Everyone may ask: errors have names of hosts in them, and are for `urlwarden feed list`. */
async function feedHealth({ feeds, now }: Services): Promise<NonNullable<Readiness['feeds']>> {
  return (await feeds()).map((feed) => ({
    name: feed.name,
    state: feedState(feed, now()),
    last_success_ts: feed.lastSuccessTs,
  }));
}
