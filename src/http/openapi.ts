import type { ErrorCode } from '../core/errors.ts';
import { lazy } from '../core/lazy.ts';
import { http } from '../core/node-http.ts';
import { paths } from '../core/paths.ts';
import { STREAM_TYPE } from './body.ts';
import type { Endpoint, Parameter, Route } from './endpoint.ts';
import { ErrorBody, statusOf } from './errors.ts';
import { type Schema, Type } from './schema.ts';
import { SESSION_COOKIE } from './session-cookie.ts';

/** The version of the API, not of the program. The URL endpoints are its second version. */
const API_VERSION = '2.0.0';

const REFUSALS = ['bad_request', 'method_not_allowed', 'timed_out', 'expectation_failed', 'headers_too_large'] as const;
const TOKEN_REFUSALS = ['unauthorized', 'forbidden', 'limit_reached'] as const;

/** OpenAPI 3.1 uses JSON Schema, so the schemas of the endpoints are used unchanged. */
export function openapiDocument(routes: readonly Route[]) {
  const shown = routes.filter(({ isHidden }) => !isHidden);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Urlwarden',
      version: API_VERSION,
      description:
        'Which URLs distribute malware, since when, from which address, with which payload; the reputation of ' +
        'addresses and domains.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: Object.fromEntries(
      [...Map.groupBy(shown, ({ endpoint }) => endpoint.path)].map(([path, ofPath]) => [
        templateOf(path),
        Object.fromEntries(ofPath.map((route) => [route.endpoint.method.toLowerCase(), operationOf(route)])),
      ]),
    ),
    components: {
      schemas: { Error: ErrorBody },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'For the pages of this server.' },
      },
    },
  };
}

/** `/url/:id/statuses` is `/url/{id}/statuses` in OpenAPI. */
const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/**
 * `x-access` and `x-charge` are as in `Route`: OpenAPI has no words for them. `queries`: how many depends on the query.
 */
function operationOf({ access, charge, endpoint }: Route) {
  const { operationId, summary, body, bodyTypes, response } = endpoint;
  return {
    operationId,
    summary,
    security: access === 'open' ? [] : [{ token: [] }, { session: [] }],
    'x-access': access,
    'x-charge': chargeOf(charge, endpoint),
    ...(endpoint.parameters && { parameters: endpoint.parameters.map(parameterOf) }),
    ...(body && { requestBody: { required: true, content: contentOf(body, bodyTypes) } }),
    responses: {
      200: {
        description: 'Found',
        content: {
          [response.contentType]: response.schema ? { schema: response.schema } : {},
          ...Object.fromEntries((response.otherTypes ?? []).map((type) => [type, {}])),
        },
      },
      ...(response.hasEtag && { 304: { description: http.STATUS_CODES[304] } }),
      ...errorResponses(access, endpoint),
    },
  };
}

function chargeOf(charge: Route['charge'], { weight }: Endpoint) {
  if (charge === 'own') return 'query';
  return charge === 'steps' || (charge === 'query' && weight) ? 'queries' : charge;
}

function contentOf(body: Schema | 'stream', bodyTypes: Endpoint['bodyTypes']) {
  if (body !== 'stream') return { 'application/json': { schema: body } };
  if (bodyTypes === undefined) return { [STREAM_TYPE]: {} };
  return Object.fromEntries(Object.entries(bodyTypes).map(([type, schema]) => [type, { schema }]));
}

const parameterOf = ({ isValid: _isValid, ...parameter }: Parameter) => ({
  ...parameter,
  required: parameter.in === 'path',
});

function errorResponses(access: Route['access'], { body, refusals = [] }: Endpoint) {
  const codes: (ErrorCode | 'internal')[] = [...REFUSALS, ...refusals, 'internal', 'unavailable'];
  if (access !== 'open') codes.push(...TOKEN_REFUSALS);
  if (body) codes.push('body_too_large');
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const statuses = codes.map(statusOf).sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [status, { description: http.STATUS_CODES[status], content }]));
}

/** The route that serves the document of all routes, itself included. */
export function openapiRoute(routes: readonly Route[]): Route {
  const endpoint: Endpoint = {
    method: 'GET',
    path: paths.openapi,
    operationId: 'openapi',
    summary: 'This document',
    response: { contentType: 'application/json', schema: Type.Object({}, { additionalProperties: true }) },
    read: () => undefined,
    respond: async () => document(),
  };
  const route: Route = { endpoint, access: 'open', charge: 'none' };
  const document = lazy(() => openapiDocument([...routes, route]));
  return route;
}
