import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { ADDRESS_DATASETS, DOMAIN_KINDS } from '../core/evidence.ts';
import { paths } from '../core/paths.ts';
import { textFault } from '../core/text.ts';
import { discardRest } from '../http/body.ts';
import { json, type Parameter, type Route } from '../http/endpoint.ts';
import { limitParameter, parseDecimal, queryString, readLimit, readSwitch } from '../http/query.ts';
import { IntegerOrNull, MAX_INTEGER, StringOrNull, Timestamp } from '../http/scalars.ts';
import { Type } from '../http/schema.ts';
import { createStallTimer } from '../http/stall-timer.ts';
import { LIST_KINDS } from '../ingest/evidence.ts';
import { FORMATS } from '../ingest/formats/formats.ts';
import { importState } from '../ingest/import-state.ts';
import { createReasons } from '../ingest/reject-reasons.ts';
import type { ImportCounts, ImportRecord, ImportStore } from '../ingest/store.ts';
import type { UploadChoices, Uploads } from '../ingest/uploads.ts';
import { adminRoute, pathText, queryText } from './route.ts';

export type ImportAdminServices = {
  control: Pick<ImportStore, 'imports' | 'import' | 'rejects'>;
  /** Unix seconds. */
  now(): number;
  uploads: Pick<Uploads, 'receive'>;
};

export function importAdminRoutes(services: ImportAdminServices): Route[] {
  return [importList(services), importShow(services), importRejects(services), importUpload(services)];
}

const STATES = ['running', 'done', 'refused', 'stopped', 'failed', 'lost'] as const;

export const ImportStateWord = Type.Enum([...STATES], {
  description: 'refused: the rows were applied, but no URL was taken offline. lost: its process is gone.',
});

/** What `import list` calls interrupted is lost for a page: nobody continues it. */
export function wireImportState(state: ReturnType<typeof importState>): (typeof STATES)[number] {
  return state === 'interrupted' ? 'lost' : state;
}

/** Everything that an import changed besides the URLs that it added. */
export function changedRows(counts: ImportCounts): number {
  const { eventsChanged, payloadsAdded, resolutionsChanged, filesChanged } = counts;
  const { listingsChanged, domainsChanged, listsChanged } = counts;
  const ofUrls = eventsChanged + payloadsAdded + resolutionsChanged + filesChanged;
  return ofUrls + listingsChanged + domainsChanged + listsChanged;
}

const Counts = {
  read: Type.Integer(),
  added: Type.Integer({ description: 'New URLs.' }),
  changed: Type.Integer({ description: 'Everything else that it changed.' }),
  rejected: Type.Integer(),
  observations: Type.Integer(),
  evidence: Type.Integer(),
  events_changed: Type.Integer(),
  payloads_added: Type.Integer(),
  resolutions_changed: Type.Integer(),
  files_changed: Type.Integer(),
  listings_changed: Type.Integer(),
  domains_changed: Type.Integer(),
  lists_changed: Type.Integer(),
  went_offline: Type.Integer(),
};

const ImportResponse = Type.Object({
  id: Type.Integer(),
  format: Type.String(),
  feed: Type.String(),
  source: Type.String(),
  started_ts: Timestamp,
  finished_ts: IntegerOrNull,
  state: ImportStateWord,
  error: StringOrNull,
  ...Counts,
});

function present(one: ImportRecord, nowTs: number) {
  const { counts } = one;
  return {
    id: one.id,
    format: one.format,
    feed: one.feed,
    source: one.source,
    started_ts: one.startedTs,
    finished_ts: one.finishedTs,
    state: wireImportState(importState(one, nowTs)),
    error: one.error,
    read: counts.read,
    added: counts.urlsAdded,
    changed: changedRows(counts),
    rejected: counts.rejected,
    observations: counts.observations,
    evidence: counts.evidence,
    events_changed: counts.eventsChanged,
    payloads_added: counts.payloadsAdded,
    resolutions_changed: counts.resolutionsChanged,
    files_changed: counts.filesChanged,
    listings_changed: counts.listingsChanged,
    domains_changed: counts.domainsChanged,
    lists_changed: counts.listsChanged,
    went_offline: counts.wentOffline,
  };
}

/** As `import list`. */
const LIST_DEFAULT = 50;
/** Few enough to parse their counts in a millisecond. */
const LIST_MAX = 200;

const importList = ({ control, now }: ImportAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminImports,
    operationId: 'adminImports',
    summary: 'The newest imports',
    parameters: [textParameter('feed', 'Only imports of this feed.'), limitParameter(LIST_DEFAULT, LIST_MAX)],
    response: json(Type.Object({ items: Type.Array(ImportResponse) })),
    read: (request) => ({
      feed: queryText(request, 'feed'),
      limit: readLimit(queryString(request), LIST_MAX) ?? LIST_DEFAULT,
    }),
    async answer({ feed, limit }) {
      const imports = await control.imports(feed === null ? { limit } : { feed, limit });
      return { items: imports.map((one) => present(one, now())) };
    },
  });

const idParameter: Parameter = {
  in: 'path',
  name: 'id',
  schema: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
  description: 'The id of an import.',
  isValid: (text) => parseDecimal(text, 1) !== null,
};

async function requireImport({ control }: ImportAdminServices, id: number): Promise<ImportRecord> {
  const found = await control.import(id);
  if (found !== null) return found;
  throw new AppError('not_found', `There is no import ${id}, or it was deleted`);
}

const importShow = (services: ImportAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminImport,
    operationId: 'adminImport',
    summary: 'One import, also while it runs',
    parameters: [idParameter],
    response: json(ImportResponse),
    refusals: ['not_found'],
    read: (request) => Number(pathText(request, 'id')),
    answer: async (id) => present(await requireImport(services, id), services.now()),
  });

/** Rows that are shown for a reason. */
const SAMPLES = 5;
/** Reasons that quote a value count as one, so there are rarely more. The others are counted together. */
const REASONS_SHOWN = 50;

const RejectsResponse = Type.Object({
  total: Type.Integer({ description: 'Rejected rows. The first 10,000 are stored and counted by reason.' }),
  reasons: Type.Array(
    Type.Object({
      reason: Type.String(),
      count: Type.Integer(),
      samples: Type.Array(Type.Object({ line: Type.Integer(), text: Type.String() })),
    }),
  ),
  others: Type.Integer({ description: 'Rows with a reason that is not among those.' }),
});

const importRejects = (services: ImportAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminImportRejects,
    operationId: 'adminImportRejects',
    summary: 'Why rows of an import were rejected, with samples',
    parameters: [idParameter],
    response: json(RejectsResponse),
    refusals: ['not_found'],
    read: (request) => Number(pathText(request, 'id')),
    async answer(id) {
      const { counts } = await requireImport(services, id);
      const reasons = createReasons(SAMPLES);
      let stored = 0;
      for await (const page of services.control.rejects(id)) {
        stored += page.length;
        for (const reject of page) reasons.add(reject);
      }
      const all = reasons.all();
      return {
        total: Math.max(counts.rejected, stored), // the counts of a running import are stored from time to time
        reasons: all.slice(0, REASONS_SHOWN).map(({ reason, rows, first }) => ({
          reason,
          count: rows,
          samples: first.map(({ line, text }) => ({ line, text })),
        })),
        others: all.slice(REASONS_SHOWN).reduce((sum, { rows }) => sum + rows, 0),
      };
    },
  });

/** The largest public dump is half of it, packed. Larger files are imported by the command. */
const MAX_UPLOAD_BYTES = 2 * 2 ** 30;

const importUpload = ({ uploads }: ImportAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminImports,
    operationId: 'adminImportUpload',
    summary: 'Imports the file that is the body, plain or packed as gzip or zip, while it arrives',
    parameters: [
      textParameter('format', `One of ${FORMATS.map(({ name }) => name).join(', ')}.`),
      textParameter('source', 'The name of the file. Default: upload.'),
      textParameter('feed', 'The feed that the data belongs to. Default: the name of the format, or of the list.'),
      switchParameter('complete', 'The file lists everything that is online.'),
      switchParameter('force', 'Apply a complete listing even if it looks cut off.'),
      wordParameter('dataset', ADDRESS_DATASETS),
      wordParameter('kind', DOMAIN_KINDS),
      wordParameter('as', LIST_KINDS),
    ],
    body: 'stream',
    response: json(Type.Object({ id: Type.Integer() })),
    read: readChoices,
    async answer(choices, { request: { raw } }, { stallMs }) {
      const id = await uploads.receive(bodyOf(raw, stallMs), choices);
      await readRest(raw, stallMs);
      return { id };
    },
  });

function readChoices(request: FastifyRequest): UploadChoices {
  const query = queryString(request);
  const source = queryText(request, 'source') ?? 'upload';
  const fault = textFault(source);
  if (fault !== null) throw new AppError('bad_request', `"source": ${fault}`);
  if (Number(request.headers['content-length']) > MAX_UPLOAD_BYTES) throw tooLarge();
  return {
    format: queryText(request, 'format') ?? '',
    source,
    feed: queryText(request, 'feed'),
    isComplete: readSwitch(query, 'complete'),
    isForced: readSwitch(query, 'force'),
    dataset: readWord(request, 'dataset', ADDRESS_DATASETS),
    evidenceKind: readWord(request, 'kind', DOMAIN_KINDS),
    listKind: readWord(request, 'as', LIST_KINDS),
  };
}

/** The bytes of a body. Does not destroy the request at an early end: the client would lose the response. */
async function* bodyOf(raw: IncomingMessage, stallMs: number): AsyncGenerator<Buffer> {
  const chunks = raw.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let bytes = 0;
  for (;;) {
    const { done, value: chunk } = await inTime(chunks.next(), raw, stallMs);
    if (done) return;
    bytes += chunk.length;
    if (bytes > MAX_UPLOAD_BYTES) throw tooLarge();
    yield chunk;
  }
}

async function inTime<T>(next: Promise<T>, raw: IncomingMessage, stallMs: number): Promise<T> {
  const stalled = createStallTimer(stallMs, () => raw.destroy());
  try {
    return await next;
  } catch (cause) {
    const message =
      'The upload ended early: the connection was closed, or no bytes arrived for too long. Send it again.';
    throw new AppError('bad_request', message, { cause });
  } finally {
    stalled.stop();
  }
}

/**
 * Of an import that ended early. Some clients give up when a response arrives before they have sent everything. One that
 * sends nothing for too long gets its response.
 */
async function readRest(raw: IncomingMessage, stallMs: number): Promise<void> {
  if (raw.readableEnded || raw.destroyed) return;
  const end = Promise.withResolvers<void>();
  const stalled = createStallTimer(stallMs, end.resolve);
  raw.on('data', stalled.refresh).once('end', end.resolve).once('close', end.resolve);
  await end.promise;
  stalled.stop();
  raw.off('data', stalled.refresh);
  discardRest(raw);
}

const tooLarge = () =>
  new AppError('body_too_large', `The file is larger than ${MAX_UPLOAD_BYTES / 2 ** 30} GiB: use urlwarden import`);

function textParameter(name: string, description: string): Parameter {
  return { in: 'query', name, schema: Type.String(), description };
}

function switchParameter(name: string, description: string): Parameter {
  return { in: 'query', name, schema: Type.Boolean(), description };
}

function wordParameter(name: string, words: readonly string[]): Parameter {
  return { in: 'query', name, schema: Type.Enum([...words]), description: 'For formats that do not say it.' };
}

function readWord<const Word extends string>(
  request: FastifyRequest,
  name: string,
  words: readonly Word[],
): Word | null {
  const sent = queryText(request, name);
  const word = words.find((candidate) => candidate === sent);
  if (sent === null || word !== undefined) return word ?? null;
  throw new AppError('bad_request', `"${name}" must be one of ${words.join(', ')}`);
}
