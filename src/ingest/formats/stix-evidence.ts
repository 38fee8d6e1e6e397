import type { EvidenceInput } from '../evidence.ts';
import type { Item, ReadOptions } from '../sources/format.ts';
import type { StixHosts, StixObjects } from './stix-objects.ts';
import type { StixRelations } from './stix-relations.ts';
import { commonKind, seenTimes } from './values.ts';

/** The evidence of one object. Each address and name is an item: one that cannot be used does not reject the others. */
export function hostItems(
  hosts: StixHosts,
  botname: string | null,
  objects: StixObjects,
  relations: StixRelations,
  options: ReadOptions,
): Item[] {
  const { id, line, text, addresses, names, confidence } = hosts;
  const labelled = commonKind([
    hosts.kind,
    ...relations.relatedTo(id).flatMap((other) => objects.kinds.get(other) ?? []),
  ]);
  const seen = relations.seen(id);
  const times = seenTimes(hosts.fromTs ?? seen.firstTs ?? options.asOfTs, seen.lastTs);
  const dataset = options.dataset ?? (labelled === 'botnetcc' ? 'BCL' : 'XBL');
  const kind = options.evidenceKind ?? labelled;
  const dstport = objects.ports.get(id) ?? null;
  const toItem = (toInputs: (ts: number) => EvidenceInput[]): Item => {
    return { kind: 'evidence', line, text, inputs: times.flatMap(toInputs) };
  };
  const listed = isListed(id, objects) ? addresses : [];
  return [
    ...listed.map((network) => toItem((ts) => [{ type: 'listing', network, dataset, ts, botname, dstport }])),
    ...names.map((domain) =>
      toItem((ts) => [
        { type: 'domain', domain, kind, ts, confidence, botname },
        ...addressFacts(id, domain, ts, objects),
      ]),
    ),
  ];
}

/** Not the address of a name, which is mostly shared hosting, and not the origin of traffic, which is mostly the victim. */
function isListed(id: string, { resolved, origins }: StixObjects): boolean {
  return !resolved.has(id) && !origins.has(id);
}

function addressFacts(id: string, domain: string, ts: number, objects: StixObjects): EvidenceInput[] {
  const a = (objects.resolutions.get(id) ?? []).flatMap((ref) => objects.addresses.get(ref) ?? []);
  return a.length === 0 ? [] : [{ type: 'fact', domain, a, ts }];
}
