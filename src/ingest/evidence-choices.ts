import { badRequest } from '../core/errors.ts';
import { DEFAULT_TRUST_PERMILLE } from '../core/evidence.ts';
import { FORMATS, findFormat } from './formats/formats.ts';
import { feedNameFault } from './import-sources.ts';
import type { EvidenceChoices, Format } from './sources/format.ts';

/** What a source is trusted with, and what its evidence means. A value that was not given is undefined or null. */
export type EvidenceValues = EvidenceChoices & {
  trustPermille?: number | null | undefined;
  lifeSeconds?: number | null | undefined;
};

export const TRUST_MAX_PERMILLE = DEFAULT_TRUST_PERMILLE;
export const LIFE_MIN_SECONDS = 3_600;
/** The longest window of `history`. */
export const LIFE_MAX_SECONDS = 366 * 86_400;

/** How messages name a value: `--dataset NAME` in a command, `"dataset"` in the API. */
export type NameOf = (key: string, argument?: string) => string;

export const jsonName: NameOf = (key) => JSON.stringify(key);

/** The values of a source in this format. Without a choice the `defaults` count, which are those of a well-known feed. */
export function chooseEvidence(
  format: Format,
  given: EvidenceValues,
  defaults: EvidenceChoices,
  nameOf: NameOf,
): Required<{ [Key in keyof EvidenceValues]: Exclude<EvidenceValues[Key], undefined> }> {
  const isAnyGiven = [given.dataset, given.evidenceKind, given.listKind].some((choice) => choice != null);
  const { dataset, evidenceKind, listKind } = isAnyGiven ? given : defaults;
  const choices = { dataset: dataset ?? null, evidenceKind: evidenceKind ?? null, listKind: listKind ?? null };
  checkChoices(format, choices, nameOf);
  const { trustPermille = null, lifeSeconds = null } = given;
  for (const [key, value] of [
    ['trust', trustPermille],
    ['life', lifeSeconds],
  ] as const) {
    if (value === null || format.hasEvidence) continue;
    throw badRequest(
      `${nameOf(key)} has no meaning for the format ${format.name}: it has no evidence about addresses and domains`,
    );
  }
  return { ...choices, trustPermille, lifeSeconds };
}

/** Each format accepts some of these choices; some formats need one. */
function checkChoices(
  { name, choices = {} }: Format,
  { dataset, evidenceKind, listKind }: EvidenceChoices,
  nameOf: NameOf,
): void {
  const { listKinds = [] } = choices;
  const all = [
    { key: 'dataset', argument: 'NAME', isGiven: dataset != null, isAccepted: choices.dataset === true },
    { key: 'kind', argument: 'KIND', isGiven: evidenceKind != null, isAccepted: choices.evidenceKind === true },
    { key: 'as', argument: listKinds.join('|'), isGiven: listKind != null, isAccepted: listKinds.length > 0 },
  ];
  const given = all.filter(({ isGiven }) => isGiven);
  const wrong = given.find(({ isAccepted }) => !isAccepted);
  if (wrong !== undefined) throw badRequest(`${nameOf(wrong.key)} has no meaning for the format ${name}`);
  if (listKind != null && !listKinds.includes(listKind)) {
    throw badRequest(`${nameOf('as')} must be one of ${listKinds.join(', ')} for the format ${name}`);
  }
  if (choices.isRequired && given.length !== 1) {
    const accepted = all.filter(({ isAccepted }) => isAccepted).map(({ key, argument }) => nameOf(key, argument));
    throw badRequest(
      `The format ${name} needs ${accepted.length > 1 ? 'exactly one of ' : ''}${accepted.join(' and ')}`,
    );
  }
}

export function requireFormat(name: string, nameOf: NameOf): Format {
  const format = findFormat(name);
  if (format !== null) return format;
  const names = FORMATS.map((known) => known.name);
  throw badRequest(`${nameOf('format')} must be one of ${names.join(', ')}, not ${JSON.stringify(name)}`);
}

/** The name of the feed, if it can be one. `what` is the flag or the key with which another name is given. */
export function requireSourceName(what: string, name: string): string {
  const fault = feedNameFault(name);
  if (fault === null) return name;
  throw badRequest(`${what} must not be ${JSON.stringify(name)}: ${fault}`);
}
