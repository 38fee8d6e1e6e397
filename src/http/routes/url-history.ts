import { paths } from '../../contract/paths.ts';
import { HISTORY_LIMIT, UrlHistoryResponse, UrlRequest } from '../../contract/url.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';
import { presentHistory } from '../present.ts';
import { normalUrlOf, unknownUrl } from '../url-request.ts';

export const urlHistory: Endpoint = {
  method: 'POST',
  path: paths.urlHistory,
  operationId: 'urlHistory',
  summary: 'The last 100 events and the last 100 payloads of a URL',
  body: UrlRequest,
  response: { contentType: 'application/json', schema: UrlHistoryResponse },
  refusals: ['not_found'],
  handler:
    ({ services: { store }, times }) =>
    async (request): Promise<UrlHistoryResponse> => {
      const history = await withinBudget(store.urlHistory(normalUrlOf(request), HISTORY_LIMIT), times.queryBudgetMs);
      if (history === null) throw unknownUrl();
      return presentHistory(history);
    },
};
