import type { Intelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { ADDRESS_DATASETS } from '../../core/evidence.ts';
import { createAddressListCopy } from '../../reputation/address-lists.ts';
import { createAddressReport } from '../../reputation/address-report.ts';
import { type DomainReport, type FindListings, findDomain } from '../../reputation/domain-report.ts';
import { type Reason, reasonsOf } from '../../reputation/explain.ts';
import { DIMENSIONS, listedUntil } from '../../reputation/score.ts';
import type { NameListing, Whois } from '../../reputation/store.ts';
import { toWireWhois } from '../../reputation/wire.ts';
import { intelligenceCommand } from '../data-command.ts';
import { INGEST_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { readDomain } from '../operator-input.ts';
import { fieldList, table, timeText } from '../output.ts';
import { currentTs } from '../time.ts';
import { settingsJson } from './domain-set.ts';

export const domainShow = intelligenceCommand(
  {
    synopsis: 'domain show NAME',
    about: `Shows the score of a domain, its five dimensions and every reason for them, whether and until when the domain is
listed, and what is known about it. docs/reputation.md explains how the score is computed.`,
    operands: ['NAME'],
    flags: { 'allow-reserved': INGEST_FLAGS['allow-reserved'] },
    examples: ['urlwarden domain show bad.example'],
  },
  async (store, { operands: [text = ''], flags }) => {
    const name = readDomain(text);
    const { allowReserved } = readIngestSettings(flags);
    const report = await findDomain(store, findListings(store, allowReserved), name, currentTs());
    if (report === null) throw new AppError('not_found', `${name} was never seen: there is no data about it`);
    const until = report.isListed ? listedUntil(report.input, report.nowTs) : null;
    const reasons = reasonsOf(report);
    return { text: reportText(report, until, reasons), json: reportJson(report, until, reasons) };
  },
);

/** Listings of the addresses of the domain count in its score. */
function findListings(store: Intelligence, allowReserved: boolean): FindListings {
  const lists = createAddressListCopy(store, { nowMs: Date.now });
  const { liveListings } = createAddressReport({ store, lists, now: currentTs, allowReserved });
  return (ip) => liveListings(ip, ADDRESS_DATASETS, currentTs());
}

function reportText(report: DomainReport, untilTs: number | null, reasons: readonly Reason[]): string {
  const { state, abused, dimensions } = report;
  const fields: [string, string | number][] = [
    ['domain', state.name],
    ['score', report.score],
    ['listed', untilTs === null ? 'no' : `yes, until ${timeText(untilTs)} without new evidence`],
    ...DIMENSIONS.map((name): [string, number] => [`  ${name}`, dimensions[name]]),
    ['abused', abused === null ? 'no' : `${abused.isAbused ? 'yes' : 'no'}: ${abused.text}`],
    ['newest evidence', timeText(report.evidenceTs)],
    ['last seen', timeText(report.lastSeenTs)],
    ['tags', report.tags.join(', ') || 'none'],
    ['registered', whoisText(state.whois)],
    ['on lists', state.lists.map(listText).join(', ') || 'none'],
  ];
  const rows = reasons.map(({ dimension, points, feed, ts, text }) => [dimension, points, feed, timeText(ts), text]);
  const why = rows.length === 0 ? '' : `\n${table(['DIMENSION', 'POINTS', 'SOURCE', 'TIME', 'REASON'], rows)}`;
  return fieldList(fields) + why;
}

function whoisText(whois: Whois | null): string {
  if (whois === null) return 'unknown';
  const { createdTs, expiresTs, registrar } = whois;
  const known = [
    ...(createdTs === null ? [] : [timeText(createdTs)]),
    ...(expiresTs === null ? [] : [`expires ${timeText(expiresTs)}`]),
    ...(registrar === null ? [] : [`by ${registrar}`]),
  ];
  return known.join(', ') || 'unknown';
}

function listText({ kind, source, rank }: NameListing): string {
  return `${kind} (${source}${rank === null ? '' : `, rank ${rank}`})`;
}

/** For programs; the keys are stable. Unknown values are absent. */
function reportJson(report: DomainReport, untilTs: number | null, reasons: readonly Reason[]) {
  const { state, abused } = report;
  return {
    domain: state.name,
    score: report.score,
    dimensions: report.dimensions,
    is_listed: report.isListed,
    listed_until: untilTs ?? undefined,
    ts: report.evidenceTs,
    last_seen: report.lastSeenTs,
    tags: report.tags,
    contexts: report.contexts.map(({ context, lastTs }) => ({ context, last_seen: lastTs })),
    abused: abused?.isAbused ?? false,
    abused_because: abused?.text,
    whois: toWireWhois(report),
    lists: state.lists.map(({ kind, source, rank, ts }) => ({ kind, source, rank: rank ?? undefined, ts })),
    settings: state.settings === null ? undefined : settingsJson(state.settings),
    reasons,
  };
}
