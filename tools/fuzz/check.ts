import { Value } from 'typebox/value';
import type { Route } from '../../src/http/endpoint.ts';
import { ErrorBody } from '../../src/http/errors.ts';
import { openapiDocument } from '../../src/http/openapi.ts';
import { ROUTES } from '../../test/http/build.ts';

export type Answer = { statusCode: number; headers: Record<string, unknown>; body: string };

type Operation = { responses: Record<string, unknown> };

/** OPTIONS is answered everywhere and is no operation of its own. */
const OPTIONS_STATUS = 204;
const CONTINUE_STATUS = 100;

const statusesOf = (route: Route): number[] => {
  const { endpoint } = route;
  const { paths } = openapiDocument([route]);
  const [item] = Object.values(paths) as Record<string, Operation>[];
  return Object.keys(item?.[endpoint.method.toLowerCase()]?.responses ?? {}).map(Number);
};
const documented = new Map(ROUTES.map((route) => [route, new Set(statusesOf(route))]));
const documentedAnywhere = new Set([...documented.values()].flatMap((statuses) => [...statuses]));

/** What is wrong with an answer, or null. `route` is given when the request has the path and the method of one. */
export function faultOf(answer: Answer, route: Route | null, isHead: boolean): string | null {
  const { statusCode } = answer;
  if (statusCode === CONTINUE_STATUS) return null;
  if (statusCode === OPTIONS_STATUS) return answer.body === '' && answer.headers.allow ? null : 'a 204 without Allow';
  if (statusCode === 500) return '500';
  const allowed = (route && documented.get(route)) ?? documentedAnywhere;
  if (!allowed.has(statusCode)) return `${statusCode} is not documented`;
  if (isHead) return null;
  return statusCode === 200 ? faultOfSuccess(answer, route) : faultOfError(answer);
}

function faultOfError({ statusCode, headers, body }: Answer): string | null {
  if (!String(headers['content-type']).startsWith('application/json')) return `an error as ${headers['content-type']}`;
  const parsed = JSON.parse(body);
  if (!Value.Check(ErrorBody, parsed) || Object.keys(parsed).length !== 2) return `not the shape of an error: ${body}`;
  return parsed.code === statusCode ? null : `code ${parsed.code} in a ${statusCode}`;
}

function faultOfSuccess({ headers, body }: Answer, route: Route | null): string | null {
  const type = String(headers['content-type']).split(';')[0];
  const isStream = type === 'application/x-ndjson';
  if (isStream && body !== '' && !body.endsWith('\n')) return 'the last line is not ended';
  const values = isStream ? body.split('\n').slice(0, -1) : [body];
  if (!route) return null;
  const { contentType, schema } = route.endpoint.response;
  if (type !== contentType) return `a success as ${type}`;
  return values.every((value) => schema === undefined || Value.Check(schema, JSON.parse(value)))
    ? null
    : `not the shape of a success: ${body}`;
}
