import { type Networks, openNetworks } from '../../../ingest/networks.ts';
import { refillNetworks } from '../../../ingest/networks-refill.ts';
import { openStore } from '../../../store/open.ts';
import { EXIT_FAILURE, UsageError } from '../../command.ts';
import { dataCommand, type Input } from '../../data-command.ts';
import { ASN_DB_USAGE, INGEST_OPTIONS, readIngestSettings } from '../../ingest-settings.ts';
import { print } from '../../output.ts';
import { count } from '../../progress.ts';
import { stopSignal } from '../../stop-signal.ts';

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
    const store = await openStore(place);
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
