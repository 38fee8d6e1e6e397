import { paths } from '../../contract/paths.ts';
import { Payload } from '../../contract/payload.ts';
import { DEFAULT_LIMIT } from '../../contract/scalars.ts';
import type { Endpoint } from '../endpoint.ts';
import { linesOf, NDJSON, sendNdjson } from '../ndjson.ts';
import { limitParameter, urlIdParameter } from '../parameters.ts';
import { presentPayload } from '../present.ts';
import { limitOf, queryOf } from '../query.ts';
import { idOf, refuseUnknownId } from '../url-request.ts';

export const urlPayloads: Endpoint<{ id: number; limit: number }> = {
  method: 'GET',
  path: paths.urlPayloads,
  operationId: 'urlPayloads',
  summary: 'The newest payloads of a URL, in any order',
  parameters: [urlIdParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Payload },
  refusals: ['not_found'],
  read: (request) => ({ id: idOf(request), limit: limitOf(queryOf(request)) ?? DEFAULT_LIMIT }),
  answer({ id, limit }, { services: { store }, times }, exchange) {
    const source = {
      open: (signal: AbortSignal) => linesOf(exchange.reply, store.payloads(id, { limit, signal }), presentPayload),
      whenEmpty: () => refuseUnknownId(store, id),
    };
    return sendNdjson(exchange, source, times);
  },
};
