import type { TSchema } from 'typebox';
import { UrlRequest } from '../contract/url.ts';
import { AppError } from '../core/errors.ts';
import { withinBudget } from './budget.ts';
import type { Endpoint, EndpointContext, LookUp } from './endpoint.ts';
import { wireError } from './errors.ts';
import { normalUrlOf } from './url-request.ts';

export type LookUpAnswer = { status: number; json: string };

/** Of an answer that is text already, and so passes the serializer by. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The answer to most questions, since most URLs are not bad. Not thrown: on Fastify's way for errors it costs 50 µs more. */
const UNKNOWN_URL = wireError(new AppError('not_found', 'This URL is not known'));
const UNKNOWN: LookUpAnswer = { status: UNKNOWN_URL.status, json: JSON.stringify(UNKNOWN_URL.body) };

export async function answerLookUp(lookUp: LookUp, url: string, context: EndpointContext): Promise<LookUpAnswer> {
  const found = lookUp(context.services.store, url);
  const json = found instanceof Promise ? await withinBudget(found, context.times.queryBudgetMs) : found;
  return json === null ? UNKNOWN : { status: 200, json };
}

type Description = Pick<Endpoint, 'path' | 'operationId' | 'summary'> & { schema: TSchema; lookUp: LookUp };

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
    lookUp,
    async answer(url, context, { reply }) {
      const { status, json } = await answerLookUp(lookUp, url, context);
      reply.code(status).type(JSON_TYPE);
      return json;
    },
  };
}
