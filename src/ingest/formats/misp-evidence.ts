import type { DomainKind } from '../../core/evidence.ts';
import type { EvidenceInput } from '../evidence.ts';
import { type EvidenceChoices, type Item, reject } from '../sources/format.ts';
import { firstAddresses, type MispGroup, type MispIndicator } from './misp-group.ts';
import { commonKind, kindOf, seenTimes } from './values.ts';

export const NO_TIME = 'neither the attribute nor the event has a time';

/** `kind`: by the tags of the event. */
type EventContext = { eventTs: number | null; kind: DomainKind; choices: EvidenceChoices };

/** One item for each indicator: a private address in an object does not reject the other evidence of the object. */
export function indicatorItems(group: MispGroup, family: string | null, context: EventContext): Item[] {
  const { line, text } = group;
  const kind = commonKind([kindOf(group.labels), context.kind]);
  return listedIndicators(group).map((indicator) => {
    const ts = indicator.ts ?? context.eventTs;
    if (ts === null) return reject(line, text, NO_TIME);
    const times = seenTimes(ts, indicator.lastTs);
    const inputs = times.flatMap((seenTs) => [
      toEvidence(indicator, seenTs, kind, family, context.choices),
      ...addressFacts(indicator, seenTs, group),
    ]);
    return { kind: 'evidence', line, text, inputs };
  });
}

/** In an object with a URL or a name, an `ip-dst` is the address of that host, which is mostly shared hosting. */
function listedIndicators({ indicators, hasHost }: MispGroup): MispIndicator[] {
  return hasHost ? indicators.filter(({ kind }) => kind !== 'destination') : indicators;
}

function toEvidence(
  indicator: MispIndicator,
  ts: number,
  kind: DomainKind,
  botname: string | null,
  { dataset, evidenceKind }: EvidenceChoices,
): EvidenceInput {
  if (indicator.kind === 'name') {
    return { type: 'domain', domain: indicator.name, kind: evidenceKind ?? kind, ts, botname };
  }
  const { network, port } = indicator;
  if (indicator.kind === 'origin') {
    return { type: 'listing', network, dataset: dataset ?? 'XBL', ts, botname, details: { srcport: port } };
  }
  const named = kind === 'botnetcc' ? 'BCL' : 'XBL';
  return { type: 'listing', network, dataset: dataset ?? named, ts, botname, dstport: port };
}

/** The address in a `domain|ip`, or those in the same object. */
function addressFacts(indicator: MispIndicator, ts: number, { ips }: MispGroup): EvidenceInput[] {
  if (indicator.kind !== 'name') return [];
  const a = indicator.ip === null ? firstAddresses(ips) : [indicator.ip];
  return a.length === 0 ? [] : [{ type: 'fact', domain: indicator.name, a, ts }];
}
