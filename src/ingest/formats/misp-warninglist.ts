import { type AppError, badRequest } from '../../core/errors.ts';
import { IMPORTED_LIST_KINDS } from '../evidence.ts';
import { feedNameFault } from '../import-sources.ts';
import { type Format, type Item, reject, type Source } from '../sources/format.ts';
import { type JsonFind, jsonText, readJson, wholeDocument } from '../sources/json.ts';
import { toText } from './values.ts';

/** Entries of other types (`substring`, `regex`) are patterns, not names or networks. */
const TYPES = ['cidr', 'hostname', 'string'];

/** Name and type of a list follow its entries, so the document is held in memory. */
export const mispWarninglist: Format = {
  name: 'misp-warninglist',
  summary: 'MISP warning list as JSON, for --as allow, popular, shared, shortener or dyndns',
  hasEvidence: true,
  choices: { listKinds: IMPORTED_LIST_KINDS, isRequired: true },
  async *read(source, limits, { listKind, asOfTs: ts, isUnnamed }) {
    if (listKind == null) throw new Error('misp-warninglist needs the kind of the list');
    const entries: Pick<JsonFind, 'value' | 'line'>[] = [];
    const head: Record<string, unknown> = {};
    const paths = ['$.list.*', '$.name', '$.type'];
    for await (const finds of readJson(wholeDocument(source), source.name, limits, paths)) {
      for (const find of finds) {
        if (find.path[0] === 'list') entries.push({ value: find.value, line: find.line });
        else head[String(find.path[0])] = find.value;
      }
      if (entries.length > MAX_ENTRIES) throw tooLong(source);
    }
    const { type = 'string' } = head;
    if (!TYPES.includes(String(type))) throw unusable(source, String(type));
    const reason = toText(head.name) ?? '';
    const origin = isUnnamed && feedNameFault(reason) === null ? { source: reason } : {};
    for (let at = 0; at < entries.length; at += PAGE_ROWS) {
      yield entries.slice(at, at + PAGE_ROWS).map(({ value, line }): Item => {
        const text = jsonText(value);
        if (typeof value !== 'string') return reject(line, text, 'an entry must be a string');
        return {
          kind: 'evidence',
          line,
          text,
          inputs: [{ type: 'list', as: listKind, entry: value, ts, reason, ...origin }],
        };
      });
    }
    yield [{ kind: 'list_end', ts, ...origin, isWhole: true }];
  },
};

/** The list of dynamic DNS domains, a long one, has 35,467. */
const MAX_ENTRIES = 1_000_000;

/** Batches are written while the rest is converted. */
const PAGE_ROWS = 1_000;

function tooLong({ name }: Source): AppError {
  return badRequest(`${name}: more than ${MAX_ENTRIES} entries; split the list`);
}

function unusable({ name }: Source, type: string): AppError {
  const message = `a warning list of type ${JSON.stringify(type)} cannot be used; supported: ${TYPES.join(', ')}`;
  return badRequest(`${name}: ${message}`);
}
