import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { refangHost } from '../../src/core/url/refang.ts';
import type { DomainPageResponse } from '../../src/portal/schemas.ts';
import { get } from '../api.ts';
import { dateText, nowTs, shellQuoted, visible } from '../format.ts';
import { useLoad } from '../load.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, Empty, Facts, Hash, Show, type Tone } from '../parts/basics.tsx';
import { CopyButtons, NetworkName, Raw, Shown } from '../parts/subject.tsx';
import { FOLDED, Rest, Table } from '../parts/table.tsx';
import { Family, UrlLink } from '../parts/urls.tsx';
import { addressPath, domainPath, searchPath } from '../question.ts';
import { remember } from '../recent.ts';
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
  const asked = refangHost(values.name ?? '');
  const loaded = useLoad(asked, (abort) => get<DomainPageResponse>(`/api/portal/v1${domainPath(asked)}`, abort));
  useEffect(() => {
    if (loaded.state === 'done') remember({ kind: 'domain', text: asked, path: domainPath(asked), ts: nowTs() });
  }, [loaded.state, asked]);
  return (
    <>
      {loaded.state !== 'done' && <h1 class="mono">{visible(asked)}</h1>}
      <Show loaded={loaded} what="Looking it up">
        {(report) => <Report report={report} asked={asked} />}
      </Show>
    </>
  );
}

function Report({ report, asked }: { report: DomainPageResponse; asked: string }) {
  return (
    <>
      <Head report={report} asked={asked} />
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
            <Addresses report={report} />
            <NameServers report={report} />
            <Senders report={report} />
          </div>
        </div>
      )}
      <Raw report={report} />
    </>
  );
}

const VERDICTS: Record<DomainVerdict['state'], { tone: Tone; text: string }> = {
  listed: { tone: 'danger', text: 'Listed' },
  abused: { tone: 'late', text: 'Abused site' },
  known: { tone: 'off', text: 'Not listed' },
  unknown: { tone: 'info', text: 'Unknown' },
};

function Head({ report, asked }: { report: DomainPageResponse; asked: string }) {
  const { domain } = report;
  const verdict = domainVerdict(report);
  const { tone, text } = VERDICTS[verdict.state];
  const api = `/api/intel/v2/byobject/domain/${encodeURIComponent(domain)}/overview`;
  const curl = `curl -H "Authorization: Bearer $TOKEN" ${shellQuoted(location.origin + api)}`;
  return (
    <Card>
      <p class="verdict">
        <Badge tone={tone}>{text}</Badge>
        <span>{verdict.text}</span>
      </p>
      <div class="page-head">
        <h1 class="mono">{visible(domain)}</h1>
        <CopyButtons text={domain} what="domain" curl={curl} report={report} />
      </div>
      <AskedName report={report} asked={asked} />
      {!report.known && (
        <p class="below">
          <a href={searchPath('host', asked)}>Search for URLs on {visible(asked)}</a>
        </p>
      )}
      {report.tags.length > 0 && (
        <div class="chips below">
          <span class="dim">Tags:</span>
          {report.tags.map((tag) => (
            <span key={tag} class="chip">
              {visible(tag)}
            </span>
          ))}
        </div>
      )}
    </Card>
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
      <a class="mono" href={searchPath('host', asked)}>
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
  const date = (ts: number) => (
    <>
      {dateText(ts)}{' '}
      <span class="dim">
        (<Ago ts={ts} />)
      </span>
    </>
  );
  const facts: [string, ComponentChildren][] = [['Counts as abused', report.abused ? 'yes' : 'no']];
  if (report.abused_reason !== null) facts.push(['Because', visible(report.abused_reason)]);
  if (whois.created_ts !== null) facts.push(['Registered', date(whois.created_ts)]);
  if (whois.expires_ts !== null) facts.push(['Expires', dateText(whois.expires_ts)]);
  if (whois.registrar !== null) facts.push(['Registrar', visible(whois.registrar)]);
  if (whois.created_ts === null)
    facts.push([
      'Registered',
      <span key="r" class="dim">
        unknown
      </span>,
    ]);
  facts.push(
    ['Last seen', <Ago key="l" ts={report.last_seen_ts} />],
    ['Host names', count('hostnames')],
    ['URLs', count('urls')],
    ['Files', count('files')],
    ['Addresses', count('addresses')],
    ['Name servers', count('name_servers')],
    ['Senders of mail', count('senders')],
  );
  return (
    <Card title="Facts">
      <Facts facts={facts} />
    </Card>
  );
}

function ByHand({ settings }: { settings: DomainPageResponse['settings'] }) {
  if (settings === null) return null;
  const { human, abused, reason, set_ts: setTs } = settings;
  return (
    <Card title="Set by hand">
      <Facts
        facts={[
          ['Points', pointsText(human)],
          ['Abused site', abused === null ? 'decided by rules' : abused ? 'yes' : 'no'],
          ['Reason', visible(reason) || <span class="dim">none given</span>],
          ['Set', <Ago key="s" ts={setTs} />],
        ]}
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
          {
            title: 'Name',
            cell: ({ hostname }) => (
              <a class="mono cut" href={searchPath('host', hostname)}>
                {visible(hostname)}
              </a>
            ),
          },
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
            cell: ({ hash }) => <a href={searchPath('sha256', hash)}>URLs with this file</a>,
          },
          { title: 'Last seen', cell: (row) => <Ago ts={row['last-seen']} /> },
        ]}
      />
    </Card>
  );
}

/** Listings of an address give it points below zero. */
const Listed = ({ score }: { score: number }) => (score < 0 ? <span class="status danger">listed</span> : null);

function Addresses({ report: { addresses, truncated } }: PartProps) {
  return (
    <SmallList title="Addresses" isTruncated={truncated.addresses} rows={addresses}>
      {({ ip, asn, network, score, 'last-seen': ts }) => (
        <li key={ip}>
          <span>
            <span class="row">
              <a class="mono" href={addressPath(ip)}>
                {ip}
              </a>
              <Listed score={score} />
            </span>
            <br />
            <span class="dim small">
              <NetworkName asn={asn} network={network} />
            </span>
          </span>
          <span class="dim">
            <Ago ts={ts} />
          </span>
        </li>
      )}
    </SmallList>
  );
}

function NameServers({ report: { name_servers: servers, truncated } }: PartProps) {
  return (
    <SmallList title="Name servers" isTruncated={truncated.name_servers} rows={servers}>
      {({ ns, score, 'last-seen': ts }) => (
        <li key={ns}>
          <span>
            <span class="row">
              <a class="mono" href={domainPath(ns)}>
                {visible(ns)}
              </a>
              <Listed score={score} />
            </span>
          </span>
          <span class="dim">
            <Ago ts={ts} />
          </span>
        </li>
      )}
    </SmallList>
  );
}

function Senders({ report: { senders, truncated } }: PartProps) {
  return (
    <SmallList title="Senders of mail" isTruncated={truncated.senders} rows={senders}>
      {({ ip, helo, score, 'last-seen': ts }) => (
        <li key={`${ip} ${helo}`}>
          <span>
            <span class="row">
              <a class="mono" href={addressPath(ip)}>
                {ip}
              </a>
              <Listed score={score} />
            </span>
            <br />
            <span class="dim small mono">{visible(helo)}</span>
          </span>
          <span class="dim">
            <Ago ts={ts} />
          </span>
        </li>
      )}
    </SmallList>
  );
}

type SmallListProps<T> = {
  title: string;
  isTruncated: boolean;
  rows: readonly T[];
  children: (row: T) => ComponentChildren;
};

/** Nothing without rows: the facts have the counts. */
function SmallList<T>({ title, isTruncated, rows, children }: SmallListProps<T>) {
  const [isOpen, setOpen] = useState(false);
  if (rows.length === 0) return null;
  const shown = isOpen ? rows : rows.slice(0, FOLDED);
  return (
    <Card title={title} aside={<Shown count={rows.length} isTruncated={isTruncated} />}>
      <ul class="plain-list">{shown.map(children)}</ul>
      <Rest hidden={rows.length - shown.length} onShow={() => setOpen(true)} />
    </Card>
  );
}
