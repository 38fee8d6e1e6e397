import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as client from '../../src/client/index.ts';
import type { DomainTag } from '../../src/core/evidence.ts';
import type { Static } from '../../src/http/schema.ts';
import type { LimitsResponse } from '../../src/limits/wire.ts';
import type { ContextName } from '../../src/reputation/domain-report.ts';
import * as reputation from '../../src/reputation/schemas.ts';
import type { DimensionName } from '../../src/reputation/score.ts';
import type * as urls from '../../src/urls/schemas.ts';

// The client has its own types. The compiler compares them with those of the server here: `npm run types` fails if one differs.

type Flat<T> = { [K in keyof T]: T[K] };
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
function same<A, B>(..._same: Same<A, B> extends true ? [] : ['these types differ']): void {}

same<client.UrlLast, urls.UrlLastResponse>();
same<client.UrlHistory, urls.UrlHistoryResponse>();
same<client.UrlEvent, urls.Event>();
same<Flat<client.UrlStatus>, urls.Status>();
same<client.Payload, urls.Payload>();
same<client.SearchRecord, urls.SearchRecord>();
same<client.SearchKey extends urls.SearchRequest ? true : false, true>();
same<keyof client.SearchKey, keyof urls.SearchRequest>();
same<client.Limits, LimitsResponse>();
same<client.AddressRecord[], Static<typeof reputation.RecordsResponse>['results']>();
same<client.DomainTag, DomainTag>();
same<client.DomainContextName, ContextName>();
same<client.DomainDimension, DimensionName>();
same<client.DomainListing, Static<typeof reputation.ListingResponse>>();
same<client.DomainSender[], Static<typeof reputation.SendersResponse>>();
same<client.DomainNameServer[], Static<typeof reputation.ServersResponse>>();
same<client.DomainAddress[], Static<typeof reputation.AddressesResponse>>();
same<client.DomainHostname[], Static<typeof reputation.HostnamesResponse>>();
same<client.DomainUrl[], Static<typeof reputation.UrlsResponse>>();
same<client.DomainFile[], Static<typeof reputation.FilesResponse>>();

/** In the schemas, tags, contexts and dimensions are any text; here they are words. The rest is the same. */
type Words = {
  tags: string[];
  context: string;
  dimension: string;
  dimensions: Record<string, number>;
  reasons: unknown;
};
type Loose<T> = { [K in keyof T]: K extends keyof Words ? Words[K] : T[K] };
same<Loose<client.Domain>, Loose<Static<typeof reputation.DomainResponse>>>();
same<Loose<client.DomainOverview>, Loose<Static<typeof reputation.OverviewResponse>>>();
same<Loose<client.DomainExplanation>, Loose<Static<typeof reputation.ExplanationResponse>>>();
same<Loose<client.DomainContext>[], Loose<Static<typeof reputation.ContextsResponse>[number]>[]>();

type Reason = Static<typeof reputation.ExplanationResponse>['reasons'][number];
same<Loose<client.DomainReason>, Loose<Reason>>();

/** Optional keys are assignable both ways above, so a new one would not be noticed. */
test('the records of addresses have the keys of the schema', () => {
  const keys = {
    ipaddress: 0,
    dataset: 0,
    listed: 0,
    seen: 0,
    valid_until: 0,
    botname: 0,
    rule: 0,
    heuristic: 0,
    asn: 0,
    cc: 0,
    lat: 0,
    lon: 0,
    dstport: 0,
    dstip: 0,
    srcip: 0,
    srcport: 0,
    protocol: 0,
    helo: 0,
    subject: 0,
    domain: 0,
    detection: 0,
    abused: 0,
    shared: 0,
    remove_timestamp: 0,
  } satisfies Record<keyof client.AddressRecord, 0>;
  const { items } = reputation.RecordsResponse.properties.results as { items?: { properties: object } };
  assert.deepEqual(Object.keys(items?.properties ?? {}).sort(), Object.keys(keys).sort());
});
