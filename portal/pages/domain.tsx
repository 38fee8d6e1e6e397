import type { ComponentChildren } from 'preact';
import { refangHost } from '../../src/core/url/refang.ts';
import type { DomainPageResponse } from '../../src/portal/schemas.ts';
import { get } from '../api.ts';
import { askLine, dateText, type Tone, visible } from '../format.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, Empty, Facts, Hash } from '../parts/basics.tsx';
import { Chips, Folded, Head, HostLink, Lookup, NetworkName, Seen, Shown } from '../parts/subject.tsx';
import { FOLDED, Table } from '../parts/table.tsx';
import { Family, UrlLink } from '../parts/urls.tsx';
import { addressPath, domainPath, searchAllPath } from '../query.ts';
import {
  type DomainVerdict,
  dimensionBars,
  dimensionTitle,
  domainVerdict,
  LISTED_SCORE,
  pointsText,
  reasonParts,
} from '../score.ts';

export function DomainPage({ values }: PageProps) {
  const asked = refangHost(values.name ?? '').replace(/\.$/, '');
  const path = domainPath(asked);
  return (
    <Lookup
      asked={asked}
      path={path}
      load={(abort) => get<DomainPageResponse>(`/api/portal/v1${path}`, abort)}
      nameOf={() => ({ kind: 'domain', text: asked })}
    >
      {(report) => <Report report={report} asked={asked} />}
    </Lookup>
  );
}

function Report({ report, asked }: { report: DomainPageResponse; asked: string }) {
  return (
    <>
      <Verdict report={report} asked={asked} />
      {report.known && (
        <div class="columns">
          <div>
            <Score report={report} />
            <Hostnames report={report} />
            <Urls report={report} />
            <Files report={report} />
          </div>
          <div>
            <About report={report} />
            <ByHand settings={report.settings} />
            <Neighbours report={report} />
          </div>
        </div>
      )}
    </>
  );
}

const VERDICTS: Record<DomainVerdict['state'], { tone: Tone; text: string }> = {
  listed: { tone: 'danger', text: 'Listed' },
  abused: { tone: 'late', text: 'Abused site' },
  known: { tone: 'off', text: 'Not listed' },
  unknown: { tone: 'info', text: 'Unknown' },
};

function Verdict({ report, asked }: { report: DomainPageResponse; asked: string }) {
  const { domain } = report;
  const { state, text } = domainVerdict(report);
  const verdict = (
    <>
      <Badge tone={VERDICTS[state].tone}>{VERDICTS[state].text}</Badge>
      <span>{text}</span>
    </>
  );
  const curl = askLine(`${location.origin}/api/intel/v2/byobject${domainPath(domain)}/overview`);
  return (
    <Head name={domain} what="domain" curl={curl} report={report} verdict={verdict}>
      <AskedName report={report} asked={asked} />
      {!report.known && (
        <p class="below">
          <a href={searchAllPath('host', asked)}>Search for URLs on {visible(asked)}</a>
        </p>
      )}
      <Chips title="Tags" texts={report.tags} />
    </Head>
  );
}

/** Scores belong to registered domains. Whoever asked for a name below one wants to know about this name. */
function AskedName({ report, asked }: { report: DomainPageResponse; asked: string }) {
  const { domain, hostnames, known } = report;
  if (!asked.toLowerCase().endsWith(`.${domain}`) || !known) return null;
  const own = hostnames.find(({ hostname }) => hostname === asked.toLowerCase());
  return (
    <p class="verdict below">
      <span>You asked for</span>
      <a class="mono" href={searchAllPath('host', asked)}>
        {visible(asked)}
      </a>
      {own ? <HostState host={own} /> : <span>which is not among the names that are shown here</span>}
    </p>
  );
}

function HostState({ host }: { host: { 'is-listed': boolean } }) {
  return host['is-listed'] ? <span class="status danger">listed</span> : <span class="status off">not listed</span>;
}

const toneOf = (points: number): string => (points < 0 ? 'danger' : points > 0 ? 'ok' : '');

function Score({ report: { score, dimensions, reasons } }: { report: DomainPageResponse }) {
  const tone = score === null ? '' : score <= LISTED_SCORE ? 'danger' : score < 0 ? 'late' : 'ok';
  const aside = score !== null && <strong class={`score ${tone}`}>{pointsText(score)}</strong>;
  return (
    <Card title="Score" aside={aside}>
      <ul class="dimensions">
        {dimensionBars(dimensions).map(({ title, meaning, points, share }) => (
          <li key={title} title={meaning}>
            <span>{title}</span>
            <span class="dimension-bar" aria-hidden="true">
              {points !== 0 && (
                <span class={`dimension-fill ${toneOf(points)}`} style={{ width: `${Math.max(0.5, share * 50)}%` }} />
              )}
            </span>
            <span class={`points mono ${toneOf(points)}`}>{pointsText(points)}</span>
          </li>
        ))}
      </ul>
      <h3>Why</h3>
      {reasons.length === 0 ? (
        <Empty>Nothing speaks for or against this domain.</Empty>
      ) : (
        <ul class="listings reasons">
          {reasons
            .toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points))
            .map((reason) => (
              <Reason key={`${reason.dimension} ${reason.feed} ${reason.text}`} {...reason} />
            ))}
        </ul>
      )}
      <p class="dim small below">
        The points add up to the score. A domain is listed at {pointsText(LISTED_SCORE)} or lower.
      </p>
    </Card>
  );
}

function Reason({ dimension, points, text, feed, ts }: DomainPageResponse['reasons'][number]) {
  const { text: words, weight } = reasonParts(text, feed);
  return (
    <li>
      <span class={`points mono ${toneOf(points)}`}>{pointsText(points)}</span>
      <span>{visible(words)}</span>
      <span class="meta">
        <span>{visible(dimensionTitle(dimension))}</span>
        <span>by {visible(feed)}</span>
        {weight && <span>{visible(weight)}</span>}
        <Ago ts={ts} />
      </span>
    </li>
  );
}

function About({ report }: { report: DomainPageResponse }) {
  const { whois, truncated } = report;
  const count = (name: keyof typeof truncated) => `${report[name].length}${truncated[name] ? ' or more' : ''}`;
  return (
    <Card title="Facts">
      <Facts
        facts={{
          'Counts as abused': report.abused ? 'yes' : 'no',
          Because: report.abused_reason && visible(report.abused_reason),
          Registered: <Registered ts={whois.created_ts} />,
          Expires: whois.expires_ts && dateText(whois.expires_ts),
          Registrar: whois.registrar && visible(whois.registrar),
          'Last seen': <Ago ts={report.last_seen_ts} />,
          'Host names': count('hostnames'),
          URLs: count('urls'),
          Files: count('files'),
          Addresses: count('addresses'),
          'Name servers': count('name_servers'),
          'Senders of mail': count('senders'),
        }}
      />
    </Card>
  );
}

function Registered({ ts }: { ts: number | null }) {
  if (ts === null) return <span class="dim">unknown</span>;
  return (
    <>
      {dateText(ts)}{' '}
      <span class="dim">
        (<Ago ts={ts} />)
      </span>
    </>
  );
}

function ByHand({ settings }: { settings: DomainPageResponse['settings'] }) {
  if (settings === null) return null;
  const { human, abused, reason, set_ts: setTs } = settings;
  return (
    <Card title="Set by hand">
      <Facts
        facts={{
          Points: pointsText(human),
          'Abused site': abused === null ? 'decided by rules' : abused ? 'yes' : 'no',
          Reason: visible(reason) || <span class="dim">none given</span>,
          Set: <Ago ts={setTs} />,
        }}
      />
    </Card>
  );
}

type PartProps = { report: DomainPageResponse };

function Hostnames({ report: { hostnames, truncated } }: PartProps) {
  if (hostnames.length === 0) return null;
  return (
    <Card title="Host names" aside={<Shown count={hostnames.length} isTruncated={truncated.hostnames} />}>
      <Table
        most={FOLDED}
        caption="Host names below the domain, newest first"
        rows={hostnames}
        keyOf={({ hostname }) => hostname}
        empty="None"
        columns={[
          { title: 'Name', cell: ({ hostname }) => <HostLink host={hostname} /> },
          { title: 'State', cell: (host) => <HostState host={host} /> },
          { title: 'Last seen', isWide: true, cell: (host) => <Ago ts={host['last-seen']} /> },
        ]}
      />
    </Card>
  );
}

/** The API has a word where the family is not known. */
const familyOf = (botname: string): string | null => (botname === 'unknown' ? null : botname);

function Urls({ report: { urls, truncated, domain } }: PartProps) {
  return (
    <Card title="Malware URLs" aside={<Shown count={urls.length} isTruncated={truncated.urls} />}>
      <Table
        most={FOLDED}
        caption="Malware URLs, newest first"
        rows={urls}
        keyOf={({ url, botname }) => `${url} ${botname}`}
        empty={`No malware URL was seen on ${visible(domain)} or a name below it.`}
        columns={[
          { title: 'URL', cell: ({ url }) => <UrlLink url={url} /> },
          { title: 'Family', isWide: true, cell: ({ botname }) => <Family family={familyOf(botname)} /> },
          { title: 'Last seen', cell: (row) => <Ago ts={row['last-seen']} /> },
        ]}
      />
    </Card>
  );
}

function Files({ report: { files, truncated } }: PartProps) {
  if (files.length === 0) return null;
  return (
    <Card title="Files" aside={<Shown count={files.length} isTruncated={truncated.files} />}>
      <Table
        most={FOLDED}
        caption="Files that its URLs served, newest first"
        rows={files}
        keyOf={({ hash, botname }) => `${hash} ${botname}`}
        empty="None"
        columns={[
          { title: 'SHA-256', cell: ({ hash }) => <Hash hash={hash} /> },
          { title: 'Family', cell: ({ botname }) => <Family family={familyOf(botname)} /> },
          {
            title: 'Served by',
            isWide: true,
            cell: ({ hash }) => <a href={searchAllPath('sha256', hash)}>URLs with this file</a>,
          },
          { title: 'Last seen', cell: (row) => <Ago ts={row['last-seen']} /> },
        ]}
      />
    </Card>
  );
}

/** Listings give a neighbour points below zero. */
function Neighbours({ report: { addresses, name_servers: servers, senders, truncated } }: PartProps) {
  return (
    <>
      <Small title="Addresses" rows={addresses} isTruncated={truncated.addresses}>
        {({ ip, asn, network, score, 'last-seen': ts }) => (
          <Seen key={ip} href={addressPath(ip)} name={ip} ts={ts} isListed={score < 0}>
            {asn !== null && <NetworkName asn={asn} network={network} />}
          </Seen>
        )}
      </Small>
      <Small title="Name servers" rows={servers} isTruncated={truncated.name_servers}>
        {({ ns, score, 'last-seen': ts }) => (
          <Seen key={ns} href={domainPath(ns)} name={ns} ts={ts} isListed={score < 0} />
        )}
      </Small>
      <Small title="Senders of mail" rows={senders} isTruncated={truncated.senders}>
        {({ ip, helo, score, 'last-seen': ts }) => (
          <Seen key={`${ip} ${helo}`} href={addressPath(ip)} name={ip} ts={ts} isListed={score < 0}>
            <span class="mono">{visible(helo)}</span>
          </Seen>
        )}
      </Small>
    </>
  );
}

type SmallProps<T> = { title: string; rows: T[]; isTruncated: boolean; children(row: T): ComponentChildren };

/** Nothing without rows: the facts have the counts. */
function Small<T>({ title, rows, isTruncated, children }: SmallProps<T>) {
  if (rows.length === 0) return null;
  return (
    <Card title={title} aside={<Shown count={rows.length} isTruncated={isTruncated} />}>
      <Folded rows={rows}>{children}</Folded>
    </Card>
  );
}
