import type { SettingValues } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { readCommandSettings, settingArgs } from './settings.ts';
import type { Flags } from './usage.ts';

const { asnDb, resolvesHosts, allowReserved, feedsAllowPrivate, maxUnpackedBytes, maxUnpackRatio, maxLineBytes } =
  SETTINGS;
const { familiesFile } = SETTINGS;
const TABLE = {
  asnDb,
  resolvesHosts,
  allowReserved,
  feedsAllowPrivate,
  maxUnpackedBytes,
  maxUnpackRatio,
  maxLineBytes,
  familiesFile,
};

export type IngestSettings = SettingValues<typeof TABLE>;

export const ASN_DB_FLAG = { 'asn-db': { argument: asnDb.argument, meaning: asnDb.meaning } } as const satisfies Flags;

/** Limits of what a command reads from a file or from standard input. */
export const INPUT_LIMIT_FLAGS = {
  'max-unpacked-bytes': limitFlag(maxUnpackedBytes),
  'max-unpack-ratio': limitFlag(maxUnpackRatio),
  'max-line-bytes': limitFlag(maxLineBytes),
} as const satisfies Flags;

/** Commands that import outside of a server have the same flags and variables as the server. */
export const INGEST_FLAGS = {
  ...ASN_DB_FLAG,
  families: { argument: familiesFile.argument, meaning: familiesFile.meaning },
  resolve: { meaning: resolvesHosts.meaning },
  'allow-reserved': { meaning: allowReserved.meaning },
  'feeds-allow-private': { argument: feedsAllowPrivate.argument, meaning: feedsAllowPrivate.meaning },
  ...INPUT_LIMIT_FLAGS,
} as const satisfies Flags;

function limitFlag({ argument, meaning, fallback }: { argument: string; meaning: string; fallback: number }) {
  return { argument, meaning: `${meaning} (default ${fallback})` };
}

/** Reports faults in the environment and in the settings file too, as the server does. */
export function readIngestSettings(flags: Readonly<Record<string, unknown>>): IngestSettings {
  return readCommandSettings(TABLE, settingArgs(TABLE, flags));
}
