import { refangUrl } from '../../src/core/url/refang.ts';
import type { UrlPageResponse } from '../../src/portal/schemas.ts';
import { post } from '../api.ts';
import { agoText, askLine, bytesText, counted, nowTs, visible } from '../format.ts';
import { dotsOf, lengthText, sinceText, spansOf, timesBack, windowOf } from '../life.ts';
import { hostListings } from '../listings.ts';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, Empty, Facts, Hash, StatusBadge, Time } from '../parts/basics.tsx';
import { Timeline } from '../parts/charts.tsx';
import { RelatedUrls } from '../parts/related-urls.tsx';
import { Chips, Folded, Head, HostLink, Lookup, NetworkName, Seen } from '../parts/subject.tsx';
import { Table } from '../parts/table.tsx';
import { Family, UrlTable } from '../parts/urls.tsx';
import { addressPath, domainPath, hostAddress, readQuery, searchAllPath, urlPath } from '../query.ts';

export function UrlPage({ query }: PageProps) {
  const asked = query.get('u') ?? '';
  const url = refangUrl(asked);
  return (
    <Lookup
      asked={asked || 'No URL'}
      path={urlPath(asked)}
      load={(abort) => post<UrlPageResponse>('/api/portal/v1/url', { url }, abort)}
      nameOf={(report) => ({ kind: 'URL', text: report.url })}
    >
      {(report) => (
        <Report report={report} steps={[...(url === asked ? [] : ['defanged form restored']), ...report.steps]} />
      )}
    </Lookup>
  );
}

function Report({ report, steps }: { report: UrlPageResponse; steps: string[] }) {
  return (
    <>
      <Verdict report={report} steps={steps} />
      {report.id !== null && <Life report={report} />}
      <div class="columns">
        <div>
          {report.id === null ? <OnHost report={report} /> : <Payloads payloads={report.payloads} />}
          {report.id !== null && <Events events={report.events} />}
        </div>
        <div>
          <Where report={report} />
        </div>
      </div>
      <RelatedUrls key={report.url} report={report} />
    </>
  );
}

function Verdict({ report, steps }: { report: UrlPageResponse; steps: string[] }) {
  const { url, status, since_ts: sinceTs, confirmed_ts: confirmedTs, reporter, removal, tags } = report;
  const now = nowTs();
  const listed = hostListings(report).map(({ text, path }) => (
    <Badge key={text} tone="danger">
      {path === null ? text : <a href={path}>{text}</a>}
    </Badge>
  ));
  const verdict = (
    <>
      {report.id === null ? <Badge tone="info">Unknown</Badge> : <StatusBadge status={status} />}
      {sinceTs !== null && <span>{sinceText(sinceTs, now)}</span>}
      {report.id === null && listed}
      {report.id === null && (
        <span>Nobody has reported this URL.{listed.length === 0 && ' That does not make it safe.'}</span>
      )}
      {report.id === null && <Meant text={report.input} />}
      {confirmedTs !== null && <span>confirmed {agoText(confirmedTs, now)}</span>}
      {reporter && (
        <span>
          reported by <strong title={visible(reporter)}>{visible(reporter)}</strong>
        </span>
      )}
      {removal && (
        <span>
          removed: <strong title={visible(removal)}>{visible(removal)}</strong>
        </span>
      )}
      {report.id !== null && listed}
    </>
  );
  const curl = askLine(`${location.origin}/api/intel/v2/byobject/url/last`, { url });
  return (
    <Head name={url} what="URL" curl={curl} report={report} verdict={verdict}>
      <Chips title="Normalized" texts={steps} />
      <Chips title="Tags" texts={tags} />
    </Head>
  );
}

/** The URL that a copied text has inside, if it is not all of it. */
function Meant({ text }: { text: string }) {
  const other = readQuery(text).find(({ kind, path }) => kind === 'url' && path !== urlPath(text));
  if (other === undefined) return null;
  return (
    <span>
      Did you mean{' '}
      <a class="mono inline" title={visible(other.text)} href={other.path}>
        {visible(other.text)}
      </a>
      ?
    </span>
  );
}

function Life({ report }: { report: UrlPageResponse }) {
  const now = nowTs();
  const spans = spansOf(report.events, now);
  const dots = dotsOf(report.payloads);
  const window = windowOf(spans, dots, now);
  const families = [...new Set(dots.map(({ group }) => group))];
  if (spans.length === 0 && dots.length === 0) return null;
  const legend = (
    <span class="legend">
      <span class="key-online">online</span>
      <span class="key-offline">offline</span>
      {families.slice(0, 6).map((family, i) => (
        <span key={family} class={`key-dot group-${i}`} title={visible(family)}>
          {visible(family)}
        </span>
      ))}
    </span>
  );
  const caption = `${counted(spans.length, 'span')} of online and offline, ${counted(dots.length, 'payload')}; the tables below have the same`;
  return (
    <Card title={`Life, last ${lengthText(window.fromTs, window.toTs)}`} aside={legend}>
      <Timeline spans={spans} dots={dots} {...window} caption={caption} />
    </Card>
  );
}

function Payloads({ payloads }: { payloads: UrlPageResponse['payloads'] }) {
  return (
    <Card title="Payloads">
      <Table
        caption="Payloads, newest first"
        rows={payloads}
        keyOf={(payload) => `${payload.ts} ${payload.sha256_hash} ${payload['malware-family']}`}
        empty="Nobody has seen what this URL serves."
        columns={[
          {
            title: 'Seen (UTC)',
            cell: (payload) => (
              <span class="when">
                <Time ts={payload.ts} />
                <span class="sub narrow">
                  <Name text={fileText(payload)} />
                </span>
              </span>
            ),
          },
          { title: 'Family', cell: (payload) => <Family family={payload['malware-family']} /> },
          { title: 'Type', isWide: true, cell: ({ file_type: type }) => type && <Name text={type} /> },
          {
            title: 'Size',
            isWide: true,
            isNumber: true,
            cell: ({ file_size: size }) => size !== null && bytesText(size),
          },
          { title: 'SHA-256', cell: ({ sha256_hash: hash }) => hash && <Hash hash={hash} /> },
        ]}
      />
    </Card>
  );
}

/** `elf, 12 kB`: on a phone below the time. */
const fileText = ({ file_type: type, file_size: size }: UrlPageResponse['payloads'][number]): string =>
  [type, size !== null && bytesText(size)].filter(Boolean).join(', ');

const EVENT_WORDS: Record<string, string> = { online: 'back online', offline: 'offline', removed: 'removed' };

/** An event `added` that is not the first one follows a removal. */
function changeText({ ts, status, removal }: UrlPageResponse['events'][number], firstTs: number | undefined): string {
  if (status === 'added') return ts === firstTs ? 'first seen online' : 'back after its removal';
  return `${EVENT_WORDS[status] ?? status}${removal ? `: ${removal}` : ''}`;
}

/** A text of a source, which may be long. */
function Name({ text }: { text: string }) {
  return (
    <span class="name" title={visible(text)}>
      {visible(text)}
    </span>
  );
}

function Events({ events }: { events: UrlPageResponse['events'] }) {
  const firstTs = events[0]?.ts;
  return (
    <Card title="History">
      <Table
        caption="Changes of the status, newest first"
        rows={events.toReversed()}
        keyOf={({ ts, status }) => `${ts} ${status}`}
        empty="No observation of this URL has a status."
        columns={[
          {
            title: 'From (UTC)',
            cell: ({ ts }) => (
              <span class="when">
                <Time ts={ts} />
              </span>
            ),
          },
          { title: 'Change', cell: (event) => <Name text={changeText(event, firstTs)} /> },
          {
            title: 'Last confirmed',
            isWide: true,
            cell: ({ confirmed_ts: ts }) => (ts === null ? <span class="dim">implied</span> : <Ago ts={ts} />),
          },
          { title: 'Reported by', cell: ({ reporter }) => <Name text={reporter} /> },
        ]}
      />
    </Card>
  );
}

function Where({ report }: { report: UrlPageResponse }) {
  const { id, host, domain, addresses, events, payloads, first_seen_ts: firstTs, address_listed: listed } = report;
  const ip = hostAddress(host);
  const files = new Set(payloads.flatMap(({ sha256_hash: hash }) => hash ?? [])).size;
  return (
    <>
      <Card title="Where it lives">
        <Facts
          facts={{
            Host: <HostLink host={host} />,
            Domain: domain && (
              <a class="mono" href={domainPath(domain)}>
                {visible(domain)}
              </a>
            ),
            'Address listed': addresses.length > 0 || ip !== null ? <Listed names={listed} /> : null,
            'Domain listed':
              report.domain_listed === null ? null : <Listed names={report.domain_listed ? ['Listed'] : []} />,
            'First seen': firstTs && <Ago ts={firstTs} />,
            'Times back online': id && timesBack(spansOf(events, nowTs())),
            'Different files': id && files,
            'URL id': id,
          }}
        />
      </Card>
      <Card title="Addresses">
        {addresses.length === 0 && ip !== null && (
          <p>
            <a class="mono" href={addressPath(ip)}>
              {ip}
            </a>
          </p>
        )}
        {addresses.length === 0 && ip === null && <Empty>No address of this host was seen.</Empty>}
        {addresses.length > 0 && (
          <Folded rows={addresses}>
            {({ ip, asn, network, ts }) => (
              <Seen key={ip} href={addressPath(ip)} name={ip} ts={ts}>
                <NetworkName asn={asn} network={network} />
              </Seen>
            )}
          </Folded>
        )}
      </Card>
    </>
  );
}

function Listed({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <>no</>;
  return (
    <span class="row">
      {names.map((name) => (
        <Badge key={name} tone="danger">
          {name}
        </Badge>
      ))}
    </span>
  );
}

function OnHost({ report }: { report: UrlPageResponse }) {
  const { host, on_host: onHost } = report;
  return (
    <Card title={`Other URLs on ${visible(host)}`}>
      <UrlTable caption={`URLs on ${visible(host)}`} rows={onHost.urls} empty="No other URL on this host is known." />
      {onHost.truncated && (
        <p>
          <a href={searchAllPath('host', host)}>All URLs on this host</a>
        </p>
      )}
    </Card>
  );
}
