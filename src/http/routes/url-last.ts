import type { ErrorBody } from '../../contract/error.ts';
import { paths } from '../../contract/paths.ts';
import { UrlLastResponse, UrlRequest } from '../../contract/url.ts';
import { withinBudget } from '../budget.ts';
import type { Endpoint } from '../endpoint.ts';
import { presentLast } from '../present.ts';
import { answerUnknownUrl, normalUrlOf } from '../url-request.ts';

export const urlLast: Endpoint<string> = {
  method: 'POST',
  path: paths.urlLast,
  operationId: 'urlLast',
  summary: 'The last status and the last payload of a URL',
  body: UrlRequest,
  response: { contentType: 'application/json', schema: UrlLastResponse },
  refusals: ['not_found'],
  read: normalUrlOf,
  async answer(url, { services: { store }, times }, exchange): Promise<UrlLastResponse | ErrorBody> {
    const last = await withinBudget(store.urlLast(url), times.queryBudgetMs);
    if (last === null) return answerUnknownUrl(exchange);
    return presentLast(last);
  },
};
