import { paths } from '../../contract/paths.ts';
import { Payload } from '../../contract/payload.ts';
import { DEFAULT_LIMIT } from '../../contract/scalars.ts';
import type { Endpoint } from '../endpoint.ts';
import { NDJSON, sendNdjson } from '../ndjson.ts';
import { limitParameter, urlIdParameter } from '../parameters.ts';
import { presentPayload } from '../present.ts';
import { limitOf, queryOf } from '../query.ts';
import { idOf, refuseUnknownId } from '../url-request.ts';

export const urlPayloads: Endpoint = {
  method: 'GET',
  path: paths.urlPayloads,
  operationId: 'urlPayloads',
  summary: 'The newest payloads of a URL, in any order',
  parameters: [urlIdParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Payload },
  refusals: ['not_found'],
  handler:
    ({ services: { store }, times }) =>
    async (request, reply) => {
      const id = idOf(request);
      const limit = limitOf(queryOf(request)) ?? DEFAULT_LIMIT;
      const source = {
        open: (signal: AbortSignal) => store.payloads(id, { limit, signal }),
        present: presentPayload,
        whenEmpty: () => refuseUnknownId(store, id),
      };
      return sendNdjson(request, reply, source, times);
    },
};
