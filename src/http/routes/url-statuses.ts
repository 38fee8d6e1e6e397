import { paths } from '../../contract/paths.ts';
import { DEFAULT_LIMIT } from '../../contract/scalars.ts';
import { Event } from '../../contract/status.ts';
import type { Endpoint } from '../endpoint.ts';
import { NDJSON, sendNdjson } from '../ndjson.ts';
import { limitParameter, sinceParameter, untilParameter, urlIdParameter } from '../parameters.ts';
import { presentEvent } from '../present.ts';
import { limitOf, queryOf, windowOf } from '../query.ts';
import { idOf, refuseUnknownId } from '../url-request.ts';

export const urlStatuses: Endpoint = {
  method: 'GET',
  path: paths.urlStatuses,
  operationId: 'urlStatuses',
  summary: 'The status changes of a URL, newest of the window first chosen, in any order',
  parameters: [urlIdParameter, sinceParameter, untilParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Event },
  refusals: ['not_found'],
  handler:
    ({ services: { store, now }, times }) =>
    async (request, reply) => {
      const id = idOf(request);
      const window = windowOf(queryOf(request), now());
      const limit = limitOf(queryOf(request)) ?? DEFAULT_LIMIT;
      const source = {
        open: (signal: AbortSignal) => store.statuses(id, window, { limit, signal }),
        present: presentEvent,
        whenEmpty: () => refuseUnknownId(store, id),
      };
      return sendNdjson(request, reply, source, times);
    },
};
