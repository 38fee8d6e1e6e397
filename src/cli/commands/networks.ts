import { formatIp, parseIp } from '../../core/ip/address.ts';
import { refangHost } from '../../core/url/refang.ts';
import { type Networks, openNetworks, refillNetworks } from '../../ingest/networks.ts';
import { type CommandGroup, EXIT_FAILURE, UsageError } from '../command.ts';
import { dataCommand, openExisting, printResult } from '../data-command.ts';
import { defineCommand, type FlagValues, JSON_FLAG } from '../define-command.ts';
import { ASN_DB_FLAG, readIngestSettings } from '../ingest-settings.ts';
import { table } from '../output.ts';
import { counted, countText } from '../progress.ts';
import { CONFIG_FLAG } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';
import type { Flags } from '../usage.ts';

export const networks: CommandGroup = {
  entries: [
    { name: 'refill', summary: 'Fill in missing networks of stored addresses.', load: async () => networksRefill },
    { name: 'lookup', summary: 'Show the network of an address.', load: async () => networksLookup },
  ],
};

const FLAGS = { ...ASN_DB_FLAG, json: JSON_FLAG, ...CONFIG_FLAG } as const satisfies Flags;

const networksRefill = dataCommand(
  {
    synopsis: 'networks refill --asn-db FILE',
    about: `Looks up the network of every stored address that has none, and stores it. Use it after a table of networks
was configured for the first time, or updated. Stored networks do not change. The command can be repeated,
and it also works while a server is running.`,
    flags: FLAGS,
  },
  async ({ flags, place }) => {
    const networks = requireNetworks(flags);
    const store = await openExisting(place);
    const { signal, dispose } = stopSignal();
    try {
      const report = await refillNetworks(store, networks, signal);
      const { addresses, unknown, resolutions } = report;
      const text = `Looked up ${counted(addresses, 'address', 'addresses')} without a network: ${countText(unknown)} not in the table, ${counted(resolutions, 'resolution')} changed.\n`;
      await printResult({ text, json: report }, flags.json);
      return signal.aborted ? EXIT_FAILURE : 0;
    } finally {
      dispose();
      await store.close();
    }
  },
);

const networksLookup = defineCommand(
  {
    synopsis: 'networks lookup ADDRESS… --asn-db FILE',
    about: 'Shows the network (autonomous system) of each address, from the table that imports use.',
    operands: ['ADDRESS'],
    isRepeated: true,
    flags: FLAGS,
    examples: ['urlwarden networks lookup 192.0.2.1 --asn-db GeoLite2-ASN.mmdb'],
  },
  async ({ operands, flags }) => {
    const addresses = operands.map(readAddress);
    const networks = requireNetworks(flags);
    const found = addresses.map((ip) => ({ ip: formatIp(ip), asn: networks.asnOf(ip) }));
    const rows = found.map(({ ip, asn }) => [ip, asn === null ? 'unknown' : `AS${asn}`]);
    await printResult({ text: table(['ADDRESS', 'NETWORK'], rows), json: found }, flags.json);
    return 0;
  },
);

/** The table may also be given in the environment or in the settings file. */
function requireNetworks(flags: FlagValues<typeof FLAGS>): Networks {
  const { asnDb } = readIngestSettings(flags);
  if (asnDb === null)
    throw new UsageError('--asn-db FILE is missing; it can also be set in a settings file, as asn-db');
  return openNetworks(asnDb);
}

function readAddress(text: string): Uint8Array {
  const ip = parseIp(refangHost(text));
  if (ip === null) throw new UsageError(`${JSON.stringify(text)} is not an IP address`);
  return ip;
}
