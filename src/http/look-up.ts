import type { TSchema } from 'typebox';
import { UrlRequest } from '../contract/url.ts';
import { AppError } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import { withinBudget } from './budget.ts';
import type { Endpoint } from './endpoint.ts';
import { wireError } from './errors.ts';
import { normalUrlOf } from './url-request.ts';

/** Of an answer that is text already, and so passes the serializer by. */
const JSON_TYPE = 'application/json; charset=utf-8';

/** The answer to most questions, since most URLs are not bad. Not thrown: on Fastify's way for errors it costs 50 µs more. */
const UNKNOWN_URL = wireError(new AppError('not_found', 'This URL is not known'));
const UNKNOWN_JSON = JSON.stringify(UNKNOWN_URL.body);

type Description = Pick<Endpoint, 'path' | 'operationId' | 'summary'> & {
  schema: TSchema;
  /** The whole answer as JSON, or null where the URL is not known. */
  lookUp(store: Store, url: string): string | null | Promise<string | null>;
};

/** An endpoint that is asked for one URL. */
export function lookUpEndpoint({ path, operationId, summary, schema, lookUp }: Description): Endpoint<string> {
  return {
    method: 'POST',
    path,
    operationId,
    summary,
    body: UrlRequest,
    response: { contentType: 'application/json', schema },
    refusals: ['not_found'],
    read: normalUrlOf,
    async answer(url, context, { reply }) {
      const found = lookUp(context.services.store, url);
      const json = found instanceof Promise ? await withinBudget(found, context.times.queryBudgetMs) : found;
      reply.type(JSON_TYPE);
      if (json !== null) return json;
      reply.code(UNKNOWN_URL.status);
      return UNKNOWN_JSON;
    },
  };
}
