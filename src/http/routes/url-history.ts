import type { ErrorBody } from '../../contract/error.ts';
import { paths } from '../../contract/paths.ts';
import { HISTORY_LIMIT, UrlHistoryResponse, UrlRequest } from '../../contract/url.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';
import { presentHistory } from '../present.ts';
import { answerUnknownUrl, normalUrlOf } from '../url-request.ts';

export const urlHistory: Endpoint<string> = {
  method: 'POST',
  path: paths.urlHistory,
  operationId: 'urlHistory',
  summary: 'The last 100 events and the last 100 payloads of a URL',
  body: UrlRequest,
  response: { contentType: 'application/json', schema: UrlHistoryResponse },
  refusals: ['not_found'],
  read: normalUrlOf,
  async answer(url, { services: { store }, times }, exchange): Promise<UrlHistoryResponse | ErrorBody> {
    const history = await withinBudget(store.urlHistory(url, HISTORY_LIMIT), times.queryBudgetMs);
    if (history === null) return answerUnknownUrl(exchange);
    return presentHistory(history);
  },
};
