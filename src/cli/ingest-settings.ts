import type { ParseArgsOptionsConfig } from 'node:util';
import { readSettings, type SettingValues } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { UsageError } from './command.ts';

const { asnDb, resolvesHosts, feedsAllowPrivate, maxUnpackedBytes, maxUnpackRatio, maxLineBytes } = SETTINGS;
const TABLE = { asnDb, resolvesHosts, feedsAllowPrivate, maxUnpackedBytes, maxUnpackRatio, maxLineBytes };

export type IngestSettings = SettingValues<typeof TABLE>;

/** For commands that do outside of a server what feeds do inside it; they go by the same flags and variables. */
export const INGEST_OPTIONS = {
  'asn-db': { type: 'string' },
  resolve: { type: 'boolean' },
  'feeds-allow-private': { type: 'string' },
  'max-unpacked-bytes': { type: 'string' },
  'max-unpack-ratio': { type: 'string' },
  'max-line-bytes': { type: 'string' },
} satisfies ParseArgsOptionsConfig;

export const ASN_DB_USAGE = `  --asn-db FILE   ${asnDb.meaning}
`;

export const INGEST_USAGE = `${ASN_DB_USAGE}  --resolve       ${resolvesHosts.meaning}
  --feeds-allow-private CIDR,…
                  ${feedsAllowPrivate.meaning}
  --max-unpacked-bytes BYTES, --max-unpack-ratio RATIO, --max-line-bytes BYTES
                  bounds on what a hostile source may cost (defaults ${maxUnpackedBytes.fallback}, ${maxUnpackRatio.fallback}, ${maxLineBytes.fallback})
`;

/** Faults in the environment count too, as they do for the server. */
export function readIngestSettings(options: Readonly<Record<string, unknown>>): IngestSettings {
  const args = Object.values(TABLE)
    .filter(({ flag }) => options[flag] !== undefined)
    .map(({ flag }) => `--${flag}=${options[flag]}`);
  const read = readSettings(TABLE, args, process.env, SETTINGS);
  if (!read.ok) throw new UsageError(read.faults.join('\n'));
  return read.values;
}
