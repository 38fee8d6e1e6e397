import type { ErrorBody } from '../../contract/error.ts';
import { paths } from '../../contract/paths.ts';
import { UrlIdResponse, UrlRequest } from '../../contract/url.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';
import { answerUnknownUrl, normalUrlOf } from '../url-request.ts';

export const urlId: Endpoint<string> = {
  method: 'POST',
  path: paths.urlId,
  operationId: 'urlId',
  summary: 'The numeric id of a URL',
  body: UrlRequest,
  response: { contentType: 'application/json', schema: UrlIdResponse },
  refusals: ['not_found'],
  read: normalUrlOf,
  async answer(url, { services: { store }, times }, exchange): Promise<UrlIdResponse | ErrorBody> {
    const id = await withinBudget(store.urlId(url), times.queryBudgetMs);
    if (id === null) return answerUnknownUrl(exchange);
    return { id };
  },
};
