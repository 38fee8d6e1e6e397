import { paths } from '../core/paths.ts';
import { callerOf } from '../http/authenticate.ts';
import { type Caller, type Endpoint, json, type Route } from '../http/endpoint.ts';
import type { Counters } from './store.ts';
import { LimitsResponse, toLimitsResponse } from './wire.ts';

export function limitsRoutes(counters: Counters): Route[] {
  return [{ endpoint: limits(counters), access: 'account', charge: 'call' }];
}

const limits = (counters: Counters): Endpoint<Caller> => ({
  method: 'GET',
  path: paths.limits,
  operationId: 'limits',
  summary: 'The limits of the account and its current counters; does not count as a query',
  response: json(LimitsResponse),
  read: callerOf,
  async respond(caller): Promise<LimitsResponse> {
    const { counts } = await counters.read(caller.account.sub);
    return toLimitsResponse(caller, counts);
  },
});
