import { DOMAIN_TAGS } from '../core/evidence.ts';
import { lazy } from '../core/lazy.ts';
import { paths } from '../core/paths.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { JSON_TYPE } from '../http/errors.ts';
import { sendTagged, withEtag } from '../http/etag.ts';
import type { Schema } from '../http/schema.ts';
import { CONTEXTS } from './domain-report.ts';
import { PUBLIC_SUFFIXES } from './public-suffixes.ts';
import { catalogueResponse, SuffixesResponse } from './schemas.ts';
import { DIMENSIONS, type DimensionName } from './score.ts';

/** What each dimension of the score says. */
const DIMENSION_MEANINGS: Record<DimensionName, string> = {
  human: 'Set by the operator',
  identity: 'Age of the registration and popularity',
  infra: 'Phishing, and listings of addresses and name servers',
  malware: 'Malware URLs, and names that sources give for malware and botnet controllers',
  smtp: 'Listings of addresses that send mail',
};

/** Lists that change only with the program. */
export function catalogueEndpoints(): Endpoint[] {
  const contexts = () => wordsJson('context', CONTEXTS);
  const dimensions = Object.fromEntries(DIMENSIONS.map((name) => [name, DIMENSION_MEANINGS[name]]));
  return [
    catalogue('publicSuffixes', 'All public suffixes', SuffixesResponse, suffixesJson),
    catalogue('tags', 'All tags of domains', catalogueResponse('tag'), () => wordsJson('tag', DOMAIN_TAGS)),
    catalogue('contexts', 'All contexts of domains', catalogueResponse('context'), contexts),
    catalogue('contextsAlias', 'The same', catalogueResponse('context'), contexts),
    catalogue('dimensions', 'All dimensions of the score', catalogueResponse('dimension'), () =>
      wordsJson('dimension', dimensions),
    ),
  ];
}

function suffixesJson(): string {
  return JSON.stringify(PUBLIC_SUFFIXES.trim().split('\n'));
}

function wordsJson(key: string, meanings: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(meanings).map(([word, description]) => ({ [key]: word, description })));
}

function catalogue(operationId: keyof typeof paths, summary: string, schema: Schema, json: () => string): Endpoint {
  const tagged = lazy(() => withEtag(json()));
  return {
    method: 'GET',
    path: paths[operationId],
    operationId,
    summary,
    response: { contentType: 'application/json', schema, hasEtag: true },
    read: () => undefined,
    async respond(_query, exchange) {
      exchange.reply.type(JSON_TYPE);
      return sendTagged(exchange, tagged());
    },
  };
}
