import { paths } from '../../contract/paths.ts';
import { MAX_INTEGER } from '../../contract/scalars.ts';
import { SearchRecord, SearchRequest } from '../../contract/search.ts';
import { AppError } from '../../core/errors.ts';
import { parseSearchKey, type SearchKey, type SearchKeyName, searchCost } from '../../core/search-key.ts';
import type { Window } from '../../core/window.ts';
import type { Endpoint } from '../endpoint.ts';
import { NDJSON, sendNdjson } from '../ndjson.ts';
import { limitParameter, sinceParameter, untilParameter } from '../parameters.ts';
import { limitOf, queryOf, windowOf } from '../query.ts';

type SearchQuestion = { key: SearchKey; window: Window; limit: number };

export const urlSearch: Endpoint<SearchQuestion> = {
  method: 'POST',
  path: paths.urlSearch,
  operationId: 'urlSearch',
  summary: 'The URLs that match one search key, one record for every matching fact, in any order',
  parameters: [sinceParameter, untilParameter, limitParameter()],
  body: SearchRequest,
  response: { contentType: NDJSON, schema: SearchRecord },
  refusals: ['not_found'],
  read: (request, { services }) => ({
    key: searchKeyOf(request.body as SearchRequest),
    window: windowOf(queryOf(request), services.now()),
    limit: limitOf(queryOf(request)) ?? MAX_INTEGER,
  }),
  weight: ({ key }) => searchCost(key),
  answer({ key, window, limit }, { services: { store }, times }, exchange) {
    const source = {
      open: (signal: AbortSignal) => store.search(key, window, { limit, signal }),
      whenEmpty: noMatch,
    };
    return sendNdjson(exchange, source, times);
  },
};

/** The schema has let exactly one key through. */
function searchKeyOf(body: SearchRequest): SearchKey {
  const [[name, value] = []] = Object.entries(body);
  if (name === undefined || value === undefined) throw new Error('a search without a key passed the schema');
  const parsed = parseSearchKey(name as SearchKeyName, value);
  if (!parsed.ok) throw new AppError('bad_request', parsed.reason);
  return parsed.key;
}

async function noMatch(): Promise<void> {
  throw new AppError('not_found', 'Nothing matches in this time window');
}
