import { isDemoData } from '../app/demo.ts';
import { type Intelligence, openControl } from '../app/stores.ts';
import { suggestion } from '../core/suggestion.ts';
import { allLists } from '../exports/built-in.ts';
import { buildEntries } from '../exports/entries.ts';
import { explainEntry } from '../exports/explain.ts';
import { formatsOf } from '../exports/formats/formats.ts';
import { PROFILE_NAMES } from '../exports/formats/profiles.ts';
import { renderVariant, type Variant } from '../exports/list-builder.ts';
import { packList } from '../exports/packed-list.ts';
import type { ListDefinition } from '../exports/store.ts';
import { UsageError } from './command.ts';
import { type DataInput, openBeside, openExisting } from './data-command.ts';
import { readWord } from './flag-values.ts';
import { INGEST_FLAGS, readIngestSettings } from './ingest-settings.ts';
import { print, visible } from './output.ts';
import { currentTs } from './time.ts';
import type { Flags } from './usage.ts';

/** Flags of `urlwarden export` for a list. */
export const LIST_FLAGS = {
  list: {
    argument: 'NAME',
    meaning: 'a list for devices: the same bytes as a server sends; all of them: urlwarden list show',
  },
  max: { argument: 'COUNT', meaning: 'of a list: at most so many entries, the newest ones' },
  profile: {
    argument: 'DEVICE',
    meaning: `of a list: as ${PROFILE_NAMES.join(' or ')} can load it`,
    values: PROFILE_NAMES,
  },
  explain: {
    argument: 'TEXT',
    meaning: 'instead of the list, why this URL, host or address, also defanged, is on it, or is not',
  },
  'allow-reserved': INGEST_FLAGS['allow-reserved'],
} as const satisfies Flags;

type ListInput = DataInput<typeof LIST_FLAGS & { format: { argument: string; meaning: string } }>;

export async function exportList({ flags, place }: ListInput, name: string): Promise<number> {
  const nowTs = currentTs();
  // Without replicas, as the server builds its lists.
  const store = await openExisting({ ...place, databaseReadUrls: [] });
  const control = await openBeside(store, openControl(place));
  try {
    const options = { allowReserved: await allowsReserved(flags, store) };
    const definition = findList(await allLists(control), name);
    const exclusions = await control.exclusions();
    if (flags.explain !== undefined) {
      const found = await explainEntry(store, definition, exclusions, nowTs, options, flags.explain);
      if (found === null) throw new UsageError(`--explain: ${visible(flags.explain)} is no URL, host name or network`);
      const { subject, isOnList, reasons } = found;
      const lines = [`${subject} is ${isOnList ? '' : 'not '}on ${name}`, ...reasons.map(({ text }) => `  ${text}`)];
      await print(lines.map((line) => `${visible(line)}\n`).join(''));
      return 0;
    }
    const variant = readVariant(flags, definition);
    const list = await buildEntries(store, definition, exclusions, nowTs, options);
    await store.newestChange(); // notices a restore or failover of PostgreSQL, after which serials skip
    const serial = await control.listSerial(name, packList(list).keysHash, nowTs);
    for (const piece of renderVariant({ ...list, serial }, variant).pieces) await print(Buffer.from(piece).toString());
    return 0;
  } finally {
    await control.close();
    await store.close();
  }
}

/** As the server that has the data: `serve --demo` implies `--allow-reserved`. */
async function allowsReserved(flags: ListInput['flags'], store: Intelligence): Promise<boolean> {
  return readIngestSettings(flags).allowReserved || (await isDemoData(store));
}

function findList(lists: readonly ListDefinition[], name: string): ListDefinition {
  const found = lists.find((list) => list.name === name);
  if (found !== undefined) return found;
  const names = lists.map((list) => list.name);
  throw new UsageError(
    `There is no list ${JSON.stringify(name)}.${suggestion(name, names)} Lists: ${names.join(', ')}`,
  );
}

function readVariant(
  { format = 'txt', max, profile: device }: ListInput['flags'],
  { name, kind }: ListDefinition,
): Variant {
  const formats = formatsOf(kind);
  const found = formats.find((one) => one.name === format);
  if (found === undefined) {
    const names = formats.map((one) => one.name);
    throw new UsageError(`The list ${name} has ${kind}; --format must be one of ${names.join(', ')}`);
  }
  const profile = readWord('--profile', device, PROFILE_NAMES);
  if (profile !== undefined && !found.takesProfile) {
    throw new UsageError(`--profile has no meaning for the format ${format}`);
  }
  if (max !== undefined && !/^[1-9]\d{0,14}$/.test(max)) {
    throw new UsageError(`--max must be a whole number from 1, not ${JSON.stringify(max)}`);
  }
  return { format, profile: profile ?? null, max: max === undefined ? null : Number(max) };
}
