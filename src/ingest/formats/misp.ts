import { AppError, badRequest } from '../../core/errors.ts';
import {
  type EvidenceChoices,
  type Format,
  type InputLimits,
  type Item,
  reject,
  type Source,
} from '../sources/format.ts';
import { readJson, wholeDocument } from '../sources/json.ts';
import { peekable } from '../sources/source.ts';
import { createMispEvent, MISP_EVENT_PARTS } from './misp-event.ts';

/** A MISP event, a list of events as returned by the API, or the manifest of a feed with its events in the same folder. */
export const misp: Format = {
  name: 'misp',
  summary: 'MISP event as JSON, or a MISP feed: its folder or its manifest.json',
  hasEvidence: true,
  choices: { dataset: true, evidenceKind: true },
  async *read(source, limits, options) {
    const bytes = peekable(wholeDocument(source));
    const start = (await bytes.start(START_BYTES)).toString('latin1', 0, START_BYTES);
    const shape = SHAPES.find((candidate) => candidate.start.test(start));
    if (shape === undefined) {
      throw badRequest(`${source.name}: neither a MISP event nor the manifest.json of a MISP feed; check the file`);
    }
    if (shape.events === null) yield* readFeed(source, bytes.all, limits, options);
    else yield* readEvents(bytes.all, source.name, limits, shape.events, '', options);
  },
};

const START_BYTES = 1024;

/** How a document starts, and the path of its events. */
const SHAPES: { start: RegExp; events: string | null }[] = [
  { start: /^\s*\{\s*"Event"\s*:/, events: '$.Event' },
  { start: /^\s*\{\s*"response"\s*:/, events: '$.response.*.Event' },
  { start: /^\s*\[/, events: '$.*.Event' },
  { start: /^\s*\{\s*(?:\}|"[0-9a-f]{8}-[0-9a-f-]{27}"\s*:)/i, events: null },
];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NO_FOLDER = 'events can only be read from a folder or a URL: import the folder that contains manifest.json';
/** The largest public feed has about 2,000. */
const MAX_EVENTS = 100_000;

/** Reads the whole manifest first: its connection would time out while thousands of events are fetched. */
async function* readFeed(
  source: Source,
  chunks: AsyncIterable<Buffer>,
  limits: InputLimits,
  choices: EvidenceChoices,
): AsyncGenerator<Item[]> {
  const events: { id: string; line: number }[] = [];
  for await (const finds of readJson(chunks, source.name, limits, ['$.*'])) {
    for (const { path, line } of finds) events.push({ id: String(path[0]), line });
    if (events.length > MAX_EVENTS) throw tooManyEvents(source.name);
  }
  for (const { id, line } of events) yield* readFeedEvent(source, id, line, limits, choices);
}

function tooManyEvents(name: string): AppError {
  return badRequest(`${name}: more than ${MAX_EVENTS} events; split the manifest`);
}

/** A missing or damaged event is a reject. A network error ends the import, which can be repeated. */
async function* readFeedEvent(
  source: Source,
  id: string,
  line: number,
  limits: InputLimits,
  choices: EvidenceChoices,
): AsyncGenerator<Item[]> {
  const file = `${id}.json`;
  const event = UUID.test(id) ? source.sibling(file) : null;
  if (event === null) {
    yield [reject(line, id, UUID.test(id) ? NO_FOLDER : 'the key is not a UUID')];
    return;
  }
  try {
    yield* readEvents(wholeDocument(event), event.name, limits, '$.Event', file, choices);
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'bad_request' && error.code !== 'not_found')) throw error;
    yield [reject(line, file, error.message)];
  }
}

/** In a list, a new index starts a new event. */
async function* readEvents(
  chunks: AsyncIterable<Buffer>,
  name: string,
  limits: InputLimits,
  events: string,
  label: string,
  choices: EvidenceChoices,
): AsyncGenerator<Item[]> {
  const depth = events.split('.').length - 1;
  const paths = MISP_EVENT_PARTS.map((part) => `${events}.${part}`);
  let event = createMispEvent(label, choices);
  let previous: string | null = null;
  for await (const finds of readJson(chunks, name, limits, paths)) {
    for (const find of finds) {
      const current = find.path.slice(0, depth).join('.');
      if (previous !== null && current !== previous) {
        yield event.items();
        event = createMispEvent(label, choices);
      }
      previous = current;
      event.add(find, String(find.path[depth]));
    }
  }
  yield event.items();
}
