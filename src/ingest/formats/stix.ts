import { badRequest } from '../../core/errors.ts';
import type { ObservationInput } from '../../core/observation.ts';
import { type Format, type Item, type ReadOptions, reject, toItem } from '../sources/format.ts';
import { readJson, wholeDocument } from '../sources/json.ts';
import { hostItems } from './stix-evidence.ts';
import { addStixObject, noStixObjects, type StixFile, type StixObjects, type StixUrls } from './stix-objects.ts';
import { createStixRelations, type StixRelations } from './stix-relations.ts';
import { onlyFamily, toTags } from './values.ts';

/** Items are created at the end: a relationship may follow the objects that it relates. */
export const stix: Format = {
  name: 'stix',
  summary: 'STIX 2.1 bundle: URLs, addresses and names, indicators of them, and related malware and files',
  hasEvidence: true,
  choices: { dataset: true, evidenceKind: true },
  async *read(source, limits, options) {
    const objects = noStixObjects();
    let isBundle = false;
    for await (const finds of readJson(wholeDocument(source), source.name, limits, ['$.objects.*', '$.type'])) {
      const rejects: Item[] = [];
      for (const find of finds) {
        if (find.path[0] === 'type') {
          isBundle = find.value === 'bundle';
          continue;
        }
        const reason = addStixObject(objects, find);
        if (reason !== null) rejects.push(reject(find.line, JSON.stringify(find.value), reason));
      }
      if (rejects.length > 0) yield rejects;
    }
    if (!isBundle) throw badRequest(`${source.name}: not a STIX bundle: its type must be "bundle"`);
    yield* toItems(objects, options);
  },
};

/**
 * Each URL of an indicator has each of its files. A batch has room for two thousand observations; with 10,000 more its transaction
 * takes half a second.
 */
const MAX_PAYLOADS = 10_000;

/** Yields one object at a time: an indicator may have a thousand URLs. */
function* toItems(objects: StixObjects, options: ReadOptions): Generator<Item[]> {
  const relations = createStixRelations(objects);
  for (const urls of objects.urls) {
    const { id, line, text } = urls;
    if (relations.isBenign(id)) continue;
    const files = relations.filesOf(id);
    const fault = payloadsFault(urls.urls.length, files.length);
    yield [toItem(line, text, fault ?? { inputs: urlInputs(urls, files, objects, relations, options.asOfTs) })];
  }
  for (const hosts of objects.hosts) {
    if (relations.isBenign(hosts.id)) continue;
    const family = familyOf(hosts.id, objects, relations);
    yield hostItems(hosts, family, objects, relations, options);
  }
  for (const { id, line, text, file } of objects.files) {
    yield [{ kind: 'file', line, text, file: { ...file, family: familyOf(id, objects, relations) } }];
  }
}

function payloadsFault(urls: number, files: number): string | null {
  if (urls * files <= MAX_PAYLOADS) return null;
  return `pattern: each of its ${urls} URLs would have ${files} files; at most ${MAX_PAYLOADS} payloads for one object`;
}

/** The first observations have the payloads and the tags; the last one says that the URL was still online. */
function urlInputs(
  { id, urls, fromTs, creator, labels }: StixUrls,
  files: readonly StixFile[],
  objects: StixObjects,
  relations: StixRelations,
  asOfTs: number,
): ObservationInput[] {
  const seen = relations.seen(id);
  const ts = fromTs ?? seen.firstTs ?? asOfTs;
  const reporter = objects.identities.get(creator || seen.creator) ?? '';
  const family = familyOf(id, objects, relations);
  const served = files.map((file) => payloadOf(file, family, objects, relations));
  const payloads = served.length === 0 && family !== null ? [{ family }] : served;
  const tags = toTags(labels);
  const tagged = tags.length === 0 ? {} : { tags };
  return urls.flatMap((url) => {
    const inputs: ObservationInput[] = payloads.map((payload) => ({ ts, url, reporter, payload, ...tagged }));
    if (inputs.length === 0) inputs.push({ ts, url, reporter, ...tagged });
    if (seen.lastTs !== null && seen.lastTs > ts) inputs.push({ ts: seen.lastTs, url, reporter });
    return inputs;
  });
}

/** The family of the file takes precedence over the family of the URL. */
function payloadOf({ id, file }: StixFile, family: string | null, objects: StixObjects, relations: StixRelations) {
  return { ...file, family: familyOf(id, objects, relations) ?? family };
}

function familyOf(id: string, objects: StixObjects, relations: StixRelations): string | null {
  return onlyFamily(relations.relatedTo(id).map((other) => objects.malware.get(other) ?? null));
}
