import { parseArgs } from 'node:util';
import { formatIp, parseIp } from '../../../core/ip.ts';
import { type Command, UsageError } from '../../command.ts';
import { ASN_DB_USAGE, INGEST_OPTIONS } from '../../ingest-settings.ts';
import { print } from '../../output.ts';
import { table } from '../../table.ts';
import { requireNetworks } from './refill.ts';

export const networksLookup: Command = {
  usage: `urlwarden networks lookup ADDRESS… --asn-db FILE [--json]

Shows which network (autonomous system) each address belongs to, by the table that imports go by.

${ASN_DB_USAGE}  --json          for programs: one JSON value instead of text
`,
  async run(args) {
    const options = { 'asn-db': INGEST_OPTIONS['asn-db'], json: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length === 0) throw new UsageError('ADDRESS is missing');
    const addresses = positionals.map(readAddress);
    const networks = requireNetworks(values as Record<string, string | true>);
    const found = addresses.map((ip) => ({ ip: formatIp(ip), asn: networks.asnOf(ip) }));
    const rows = found.map(({ ip, asn }) => [ip, asn === null ? 'unknown' : `AS${asn}`]);
    await print(values.json ? `${JSON.stringify(found)}\n` : table(['ADDRESS', 'NETWORK'], rows));
    return 0;
  },
};

function readAddress(text: string): Uint8Array {
  const ip = parseIp(text);
  if (ip === null) throw new UsageError(`${JSON.stringify(text)} is no IP address`);
  return ip;
}
