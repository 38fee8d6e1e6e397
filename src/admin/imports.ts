import { AppError } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { json, type Parameter, type Route } from '../http/endpoint.ts';
import { limitParameter, parseDecimal, queryString, readLimit } from '../http/query.ts';
import { IntegerOrNull, MAX_INTEGER, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { importState } from '../ingest/import-state.ts';
import { createReasons } from '../ingest/reject-reasons.ts';
import type { ImportCounts, ImportRecord, ImportStore } from '../ingest/store.ts';
import { importUpload, type UploadServices } from './import-upload.ts';
import { adminRoute, pathText, queryText, textParameter } from './route.ts';
import { ListOf } from './wire.ts';

export type ImportAdminServices = UploadServices & {
  control: Pick<ImportStore, 'imports' | 'import' | 'rejects'>;
  /** Unix seconds. */
  now(): number;
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
export type ImportResponse = Static<typeof ImportResponse>;

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
    response: json(ListOf(ImportResponse)),
    read: (request) => ({
      feed: queryText(request, 'feed'),
      limit: readLimit(queryString(request), LIST_MAX) ?? LIST_DEFAULT,
    }),
    async respond({ feed, limit }) {
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
    respond: async (id) => present(await requireImport(services, id), services.now()),
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
export type RejectsResponse = Static<typeof RejectsResponse>;

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
    async respond(id) {
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
