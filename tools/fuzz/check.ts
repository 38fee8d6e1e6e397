import { Value } from 'typebox/value';
import type { Route } from '../../src/http/endpoint.ts';
import { ErrorBody } from '../../src/http/errors.ts';
import { openapiDocument } from '../../src/http/openapi.ts';
import { ROUTES } from '../../test/http/build.ts';

type RawResponse = { statusCode: number; headers: Record<string, unknown>; body: string };

type Operation = { responses: Record<string, unknown> };

/** Every path accepts OPTIONS; it is not a documented operation. */
const OPTIONS_STATUS = 204;
const CONTINUE_STATUS = 100;
const NOT_MODIFIED_STATUS = 304;

const statusesOf = (route: Route): number[] => {
  const { endpoint } = route;
  const { paths } = openapiDocument([route]);
  const [item] = Object.values(paths) as Record<string, Operation>[];
  return Object.keys(item?.[endpoint.method.toLowerCase()]?.responses ?? {}).map(Number);
};
const documented = new Map(ROUTES.map((route) => [route, new Set(statusesOf(route))]));
const documentedAnywhere = new Set([...documented.values()].flatMap((statuses) => [...statuses]));

/** Why a response is wrong, or null. `route` is null unless the request has the path and the method of a route. */
export function faultOf(response: RawResponse, route: Route | null, isHead: boolean): string | null {
  const { statusCode } = response;
  if (statusCode === CONTINUE_STATUS) return null;
  if (statusCode === OPTIONS_STATUS)
    return response.body === '' && response.headers.allow ? null : '204 with a body or without Allow';
  if (statusCode === 500) return '500';
  const allowed = (route && documented.get(route)) ?? documentedAnywhere;
  if (!allowed.has(statusCode)) return `${statusCode} is not documented`;
  if (statusCode === NOT_MODIFIED_STATUS)
    return response.body === '' && response.headers.etag ? null : '304 with a body';
  if (isHead) return null;
  return statusCode === 200 ? faultOfSuccess(response, route) : faultOfError(response);
}

function faultOfError({ statusCode, headers, body }: RawResponse): string | null {
  if (!String(headers['content-type']).startsWith('application/json'))
    return `error with content type ${headers['content-type']}`;
  const parsed = JSON.parse(body);
  if (!Value.Check(ErrorBody, parsed) || Object.keys(parsed).length !== 2) return `wrong error body: ${body}`;
  return parsed.code === statusCode ? null : `code ${parsed.code} in the body of a ${statusCode}`;
}

function faultOfSuccess({ headers, body }: RawResponse, route: Route | null): string | null {
  const type = String(headers['content-type']).split(';')[0];
  const isStream = type === 'application/x-ndjson';
  if (isStream && body !== '' && !body.endsWith('\n')) return 'the last line has no line feed';
  const values = isStream ? body.split('\n').slice(0, -1) : [body];
  if (!route) return null;
  const { contentType, schema } = route.endpoint.response;
  if (type !== contentType) return `200 with content type ${type}`;
  return values.every((value) => schema === undefined || Value.Check(schema, JSON.parse(value)))
    ? null
    : `wrong body of a 200: ${body}`;
}
