import { paths } from '../../contract/paths.ts';
import { UrlIdResponse, UrlRequest } from '../../contract/url.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';
import { normalUrlOf, unknownUrl } from '../url-request.ts';

export const urlId: Endpoint = {
  method: 'POST',
  path: paths.urlId,
  operationId: 'urlId',
  summary: 'The numeric id of a URL',
  body: UrlRequest,
  response: { contentType: 'application/json', schema: UrlIdResponse },
  refusals: ['not_found'],
  handler:
    ({ services: { store }, times }) =>
    async (request): Promise<UrlIdResponse> => {
      const id = await withinBudget(store.urlId(normalUrlOf(request)), times.queryBudgetMs);
      if (id === null) throw unknownUrl();
      return { id };
    },
};
