import { paths } from '../../contract/paths.ts';
import { DEFAULT_LIMIT } from '../../contract/scalars.ts';
import { Event } from '../../contract/status.ts';
import type { Window } from '../../core/window.ts';
import type { Endpoint } from '../endpoint.ts';
import { linesOf, NDJSON, sendNdjson } from '../ndjson.ts';
import { limitParameter, sinceParameter, untilParameter, urlIdParameter } from '../parameters.ts';
import { presentEvent } from '../present.ts';
import { limitOf, queryOf, windowOf } from '../query.ts';
import { idOf, refuseUnknownId } from '../url-request.ts';

type StatusesQuestion = { id: number; window: Window; limit: number };

export const urlStatuses: Endpoint<StatusesQuestion> = {
  method: 'GET',
  path: paths.urlStatuses,
  operationId: 'urlStatuses',
  summary: 'The newest status changes of a URL inside a time window, in any order',
  parameters: [urlIdParameter, sinceParameter, untilParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Event },
  refusals: ['not_found'],
  read: (request, { services }) => ({
    id: idOf(request),
    window: windowOf(queryOf(request), services.now()),
    limit: limitOf(queryOf(request)) ?? DEFAULT_LIMIT,
  }),
  answer({ id, window, limit }, { services: { store }, times }, exchange) {
    const source = {
      open: (signal: AbortSignal) =>
        linesOf(exchange.reply, store.statuses(id, window, { limit, signal }), presentEvent),
      whenEmpty: () => refuseUnknownId(store, id),
    };
    return sendNdjson(exchange, source, times);
  },
};
