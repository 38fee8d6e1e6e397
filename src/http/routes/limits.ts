import type { Caller } from '../../accounts/caller.ts';
import { LimitsResponse } from '../../contract/limits.ts';
import { paths } from '../../contract/paths.ts';
import type { Endpoint } from '../endpoint.ts';
import { callerOf } from '../hooks/authenticate.ts';
import { presentLimits } from '../present.ts';

export const limits: Endpoint<Caller> = {
  method: 'GET',
  path: paths.limits,
  operationId: 'limits',
  summary: 'The limits of the account, and how far they are used up; does not count as a query',
  response: { contentType: 'application/json', schema: LimitsResponse },
  refusals: [],
  read: callerOf,
  async answer(caller, { services: { counters } }): Promise<LimitsResponse> {
    const { counts } = await counters.read(caller.account.sub);
    return presentLimits(caller, counts);
  },
};
