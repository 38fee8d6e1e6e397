import { parseArgs } from 'node:util';
import { openIntelligence } from '../../app/stores.ts';
import { formatIp, parseIp } from '../../core/ip/address.ts';
import { type Networks, openNetworks, refillNetworks } from '../../ingest/networks.ts';
import { type Command, type CommandGroup, EXIT_FAILURE, UsageError } from '../command.ts';
import { dataCommand, type Input } from '../data-command.ts';
import { ASN_DB_USAGE, INGEST_OPTIONS, readIngestSettings } from '../ingest-settings.ts';
import { print, table } from '../output.ts';
import { count } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';

export const networks: CommandGroup = {
  entries: [
    {
      name: 'refill',
      summary: 'Fill in the networks of addresses that are stored without one.',
      load: async () => networksRefill,
    },
    {
      name: 'lookup',
      summary: 'Show which network an address belongs to.',
      load: async () => networksLookup,
    },
  ],
};

export const networksRefill = dataCommand(
  {
    synopsis: 'networks refill --asn-db FILE [--json]',
    about: `Gives every stored address that has no network the one that the table has for it: after a table was configured for
the first time, or renewed. Networks that are stored stay. Beside a running server too, and as often as you like.
`,
    flags: `${ASN_DB_USAGE}  --json          for programs: one JSON value instead of text
`,
    options: { 'asn-db': INGEST_OPTIONS['asn-db'], json: { type: 'boolean' } },
  },
  async ({ options, place }) => {
    const networks = requireNetworks(options);
    const store = await openIntelligence(place);
    const { signal, dispose } = stopSignal();
    try {
      const report = await refillNetworks(store, networks, signal);
      const { addresses, unknown, resolutions } = report;
      const text = `Looked up ${count(addresses)} addresses without a network: ${count(unknown)} are not in the table; ${count(resolutions)} resolutions changed.\n`;
      await print(options.json ? `${JSON.stringify(report)}\n` : text);
      return signal.aborted ? EXIT_FAILURE : 0;
    } finally {
      dispose();
      await store.close();
    }
  },
);

export function requireNetworks(options: Input['options']): Networks {
  const { asnDb } = readIngestSettings(options);
  if (asnDb === null) throw new UsageError('--asn-db FILE is missing');
  return openNetworks(asnDb);
}

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
