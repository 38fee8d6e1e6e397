import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { recordChange } from '../audit/request-record.ts';
import type { AuditStore } from '../audit/store.ts';
import { badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { type Exchange, json, type Route } from '../http/endpoint.ts';
import { type Static, Type } from '../http/schema.ts';
import { jsonName } from '../ingest/evidence-choices.ts';
import { checkFeedHost } from '../ingest/feeds/feed-host.ts';
import { KNOWN_FEEDS } from '../ingest/feeds/known-feeds.ts';
import {
  addFeed,
  changeFeed,
  changeOfFeed,
  checkFeedName,
  draftFeed,
  feedFields,
  refuseKnownName,
  removeFeed,
  requireFeed,
  setPaused,
  toNewFeed,
  whileNotFetched,
} from '../ingest/feeds/manage.ts';
import type { FeedStore, ImportStore } from '../ingest/store.ts';
import { FeedResponse, FeedValuesRequest, presentFeed, readHeaders, toValues } from './feed-wire.ts';
import { adminRoute, Nothing, pathParameter, pathText } from './route.ts';
import { ListOf } from './wire.ts';

export type FeedAdminServices = {
  control: FeedStore & Pick<ImportStore, 'imports'> & Pick<AuditStore, 'addAudit'>;
  /** Unix seconds. */
  now(): number;
  /** Networks of `--feeds-allow-private`. */
  feedsAllowPrivate: readonly string[];
  /** Lets this node look for due feeds now. */
  wakeFeeds(): void;
};

export function feedAdminRoutes(services: FeedAdminServices): Route[] {
  return [
    feedList(services),
    knownFeeds(services),
    feedAdd(services),
    feedSet(services),
    feedRun(services),
    feedRemove(services),
  ];
}

const feedList = (services: FeedAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminFeeds,
    operationId: 'adminFeeds',
    summary: 'All feeds, their states and their newest runs',
    response: json(ListOf(FeedResponse)),
    read: () => undefined,
    async respond() {
      const [feeds, leased] = await Promise.all([
        services.control.feeds(),
        services.control.leasedFeeds(services.now()),
      ]);
      return { items: await Promise.all(feeds.map((feed) => presentFeed(feed, leased, services))) };
    },
  });

const KnownFeedResponse = Type.Object({
  name: Type.String(),
  about: Type.String(),
  terms: Type.String(),
  format: Type.String(),
  url: Type.String(),
  interval_seconds: Type.Integer(),
  needs_key: Type.Boolean({ description: 'It cannot be fetched without an access key.' }),
  uses_key: Type.Boolean({ description: 'With an access key it is fetched from an address for users with a key.' }),
  added: Type.Boolean(),
});
export type KnownFeedResponse = Static<typeof KnownFeedResponse>;

const knownFeeds = ({ control }: FeedAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminKnownFeeds,
    operationId: 'adminKnownFeeds',
    summary: 'Well-known feeds, which can be added by their name alone',
    response: json(ListOf(KnownFeedResponse)),
    read: () => undefined,
    async respond() {
      const added = new Set((await control.feeds()).map(({ name }) => name));
      return {
        items: KNOWN_FEEDS.map(({ name, about, terms, format, url, keyedUrl, intervalSeconds }) => ({
          name,
          about,
          terms,
          format,
          url,
          interval_seconds: intervalSeconds,
          needs_key: url.includes('{'),
          uses_key: url.includes('{') || keyedUrl !== undefined,
          added: added.has(name),
        })),
      };
    },
  });

const FeedAddRequest = Type.Closed({
  known: Type.Optional(Type.String({ description: 'The name of a well-known feed, instead of "name".' })),
  name: Type.Optional(Type.String()),
  ...FeedValuesRequest,
});
type FeedAddRequest = Static<typeof FeedAddRequest>;

const feedAdd = (services: FeedAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminFeeds,
    operationId: 'adminFeedAdd',
    summary: 'Add a feed, which is fetched at once',
    body: FeedAddRequest,
    response: json(FeedResponse),
    read: (request) => request.body as FeedAddRequest,
    async respond({ known, name: given, headers = {}, ...sent }, { request }) {
      const { control, now } = services;
      const name = readNewName(known, given);
      const values = toValues(sent);
      const draft = draftFeed(name, values, jsonName);
      await refuseKnownName(control, name);
      if (values.url !== undefined) await checkFeedHost(values.url, draft.allowsPrivate, networksOf(services));
      const feed = toNewFeed(draft, readHeaders(headers), now());
      await addFeed(control, feed);
      await recordChange(control, request, { action: 'feed.add', subject: name, after: feedFields(feed) });
      services.wakeFeeds();
      return presentFeed(feed, [], services);
    },
  });

function readNewName(known: string | undefined, given: string | undefined): string {
  const name = known ?? given ?? '';
  if (known !== undefined && given !== undefined) throw badRequest('Send "known" or "name", not both');
  if (known !== undefined && !KNOWN_FEEDS.some((feed) => feed.name === known)) {
    throw badRequest(`There is no well-known feed ${JSON.stringify(known)}`);
  }
  checkFeedName('"name"', name);
  return name;
}

const FeedSetRequest = Type.Closed({
  paused: Type.Optional(Type.Boolean()),
  no_headers: Type.Optional(Type.Boolean({ description: 'Send none of the present headers any more.' })),
  ...FeedValuesRequest,
});
type FeedSetRequest = Static<typeof FeedSetRequest>;

const nameParameter = pathParameter('name', 'The name of a feed.');

const HEADER_ADVICE = 'Send it again in "headers", or remove it with "no_headers".';

const feedSet = (services: FeedAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminFeed,
    operationId: 'adminFeedSet',
    summary: 'Change a feed; what is not sent stays',
    parameters: [nameParameter],
    body: FeedSetRequest,
    response: json(FeedResponse),
    refusals: ['not_found'],
    read: (request) => ({ name: pathText(request, 'name'), sent: request.body as FeedSetRequest }),
    async respond({ name, sent: { paused, ...values } }, { request }) {
      const { control } = services;
      await requireFeed(control, name);
      if (paused === undefined && Object.keys(values).length === 0) throw badRequest('There is nothing to change');
      if (Object.keys(values).length > 0) await changeValues(name, values, request, services);
      if (paused !== undefined) await pauseOrResume(name, paused, request, services);
      services.wakeFeeds();
      return presentFeed(await requireFeed(control, name), await control.leasedFeeds(services.now()), services);
    },
  });

async function changeValues(
  name: string,
  { headers = {}, no_headers: dropsOthers = false, ...sent }: Omit<FeedSetRequest, 'paused'>,
  request: FastifyRequest,
  services: FeedAdminServices,
): Promise<void> {
  const { control, now } = services;
  const values = toValues(sent);
  const header = { added: readHeaders(headers), dropsOthers, advice: HEADER_ADVICE };
  if (values.url !== undefined || values.allowsPrivate !== undefined) {
    const feed = await requireFeed(control, name);
    await checkFeedHost(values.url ?? feed.url, values.allowsPrivate ?? feed.allowsPrivate, networksOf(services));
  }
  const nowTs = now();
  await whileNotFetched(control, { name, owner: `page ${randomUUID()}`, nowTs }, async (feed) => {
    const change = changeOfFeed(feed, values, header, { nowTs, nameOf: jsonName });
    await changeFeed(control, name, change);
    const after = feedFields({ ...feed, ...change });
    await recordChange(control, request, { action: 'feed.set', subject: name, before: feedFields(feed), after });
  });
}

async function pauseOrResume(
  name: string,
  isPaused: boolean,
  request: FastifyRequest,
  { control, now }: FeedAdminServices,
): Promise<void> {
  const { before, after } = await setPaused(control, name, isPaused, now());
  const fields = { before: feedFields(before), after: feedFields(after) };
  await recordChange(control, request, { action: isPaused ? 'feed.pause' : 'feed.resume', subject: name, ...fields });
}

const feedRun = (services: FeedAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminFeedRun,
    operationId: 'adminFeedRun',
    summary: 'Fetch a feed at once',
    parameters: [nameParameter],
    body: Nothing,
    response: json(FeedResponse),
    refusals: ['not_found'],
    read: (request) => pathText(request, 'name'),
    async respond(name) {
      const { control, now } = services;
      const { isPaused } = await requireFeed(control, name);
      if (isPaused) throw badRequest(`${name} is paused: resume it, and it is fetched at once`);
      await changeFeed(control, name, { nextRunTs: now() });
      services.wakeFeeds();
      return presentFeed(await requireFeed(control, name), await control.leasedFeeds(now()), services);
    },
  });

const feedRemove = (services: FeedAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminFeedRemove,
    operationId: 'adminFeedRemove',
    summary: 'Remove a feed and its headers; its data stays',
    parameters: [nameParameter],
    body: Nothing,
    response: json(FeedResponse),
    refusals: ['not_found'],
    read: (request) => pathText(request, 'name'),
    async respond(name, { request }: Exchange) {
      const removed = await presentFeed(await requireFeed(services.control, name), [], services);
      const feed = await removeFeed(services.control, name);
      await recordChange(services.control, request, {
        action: 'feed.remove',
        subject: name,
        before: feedFields(feed),
      });
      return removed;
    },
  });

const networksOf = ({ feedsAllowPrivate }: FeedAdminServices) =>
  ({ allowed: feedsAllowPrivate, of: 'server' }) as const;
