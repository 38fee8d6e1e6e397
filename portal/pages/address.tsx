import { useState } from 'preact/hooks';
import { parseNetwork } from '../../src/core/ip/network.ts';
import { refangHost } from '../../src/core/url/refang.ts';
import type { AddressPageResponse } from '../../src/portal/schemas.ts';
import { get } from '../api.ts';
import { acceptCost, takeAccepted } from '../cost.ts';
import { askLine, counted, dateText, type Tone, visible } from '../format.ts';
import {
  type Verdict as AddressVerdict,
  byDataset,
  DATASETS,
  type Dataset,
  detailTexts,
  endText,
  type Listing,
  verdictOf,
} from '../listings.ts';
import type { PageProps } from '../main.tsx';
import { networksAround } from '../networks.ts';
import { Ago, Badge, Card, Cost, Empty, Facts } from '../parts/basics.tsx';
import { capitalized, Folded, Head, HostLink, Lookup, NetworkName, Shown } from '../parts/subject.tsx';
import { FOLDED, Table } from '../parts/table.tsx';
import { AllUrls, Family, UrlTable } from '../parts/urls.tsx';
import { addressPath, domainPath, hasPage, hostAddress, networkPath, networkTarget, searchAllPath } from '../query.ts';

export function AddressPage({ values }: PageProps) {
  const ip = refangHost(values.ip ?? '');
  if (hostAddress(ip) === null)
    return (
      <>
        <h1 class="mono">{visible(ip)}</h1>
        <Empty>This is no address. An address looks like 203.0.113.7 or 2001:db8::1.</Empty>
      </>
    );
  return <Address key={ip} text={ip} path={addressPath(ip)} endpoint={`address/${encodeURIComponent(ip)}`} />;
}

export function NetworkPage({ values }: PageProps) {
  const asked = `${refangHost(values.ip ?? '')}/${values.mask}`;
  const parsed = parseNetwork(asked);
  if (!parsed.ok)
    return (
      <>
        <h1 class="mono">{visible(asked)}</h1>
        <Empty>This is no network. A network looks like 198.51.100.0/24 or 2001:db8::/56.</Empty>
      </>
    );
  const { canonical, cost } = parsed.network;
  return hasPage(canonical) ? (
    <Network key={canonical} cidr={canonical} cost={cost} />
  ) : (
    <TooWide cidr={canonical} cost={cost} />
  );
}

/** Asks before it spends more than one query. */
function Network({ cidr, cost }: { cidr: string; cost: number }) {
  const [isAccepted, setAccepted] = useState(() => takeAccepted(networkPath(cidr)) || cost === 1);
  if (isAccepted) {
    const [ip = '', mask = ''] = cidr.split('/');
    return <Address text={cidr} path={networkPath(cidr)} endpoint={`network/${encodeURIComponent(ip)}/${mask}`} />;
  }
  return (
    <Card>
      <div class="stack">
        <h1 class="mono">{cidr}</h1>
        <p>
          To look up this network counts as <strong>{cost} queries</strong>.
        </p>
        <div>
          <button type="button" class="button primary" onClick={() => setAccepted(true)}>
            Look it up
          </button>
        </div>
      </div>
    </Card>
  );
}

function TooWide({ cidr, cost }: { cidr: string; cost: number }) {
  const path = networkTarget(cidr);
  return (
    <Card>
      <div class="stack">
        <h1 class="mono">{cidr}</h1>
        <p>This network is too wide for a page. The widest are /24 for IPv4 and /56 for IPv6.</p>
        <p class="row">
          <a class="button" href={path} onClick={() => acceptCost(path)}>
            Search the URLs in it
          </a>
          <Cost queries={cost} />
        </p>
      </div>
    </Card>
  );
}

type AddressProps = { text: string; path: string; endpoint: string };

function Address({ text, path, endpoint }: AddressProps) {
  return (
    <Lookup
      asked={text}
      path={path}
      load={(abort) => get<AddressPageResponse>(`/api/portal/v1/${endpoint}`, abort)}
      nameOf={({ cidr }) => ({ kind: cidr.includes('/') ? 'network' : 'address', text: cidr })}
    >
      {(report) => <Report report={report} />}
    </Lookup>
  );
}

function Report({ report }: { report: AddressPageResponse }) {
  const { cidr, listings, urls } = report;
  const there = cidr.includes('/') ? 'in this network' : 'at this address';
  return (
    <>
      <Verdict report={report} />
      <div class="columns">
        <div>
          {byDataset(listings).map(([dataset, found]) => (
            <Listings key={dataset} dataset={dataset} listings={found} cidr={cidr} />
          ))}
          {listings.length === 0 && (
            <Card title="Listings">
              <Empty>No listing, neither live nor past, in the datasets of your account.</Empty>
            </Card>
          )}
          {report.listings_truncated && (
            <p class="dim">Only the newest {listings.length} listings are shown. The API has all.</p>
          )}
          <Card title={`URLs seen ${there}`} aside={<Shown count={urls.length} isTruncated={report.urls_truncated} />}>
            <UrlTable caption={`URLs seen ${there}`} rows={urls} empty={`No malware URL was seen ${there}.`} />
            {report.urls_truncated && <AllUrls path={searchAllPath('ip', cidr)} cost={costOf(cidr)} />}
          </Card>
          <Domains report={report} />
        </div>
        <div>
          <Where report={report} />
        </div>
      </div>
    </>
  );
}

const VERDICTS: Record<AddressVerdict['state'], { tone: Tone; text: string }> = {
  listed: { tone: 'danger', text: 'Listed' },
  inside: { tone: 'danger', text: 'Partly listed' },
  past: { tone: 'off', text: 'Not listed now' },
  clean: { tone: 'off', text: 'Not listed' },
};

function Verdict({ report }: { report: AddressPageResponse }) {
  const { cidr, urls } = report;
  const { state, datasets, text } = verdictOf(report);
  const online = urls.filter(({ status }) => status === 'online').length;
  const verdict = (
    <>
      <Badge tone={VERDICTS[state].tone}>{VERDICTS[state].text}</Badge>
      {datasets.length > 0 && <strong>{datasets.map((dataset) => DATASETS[dataset].name).join(', ')}</strong>}
      <span>{text}</span>
      {online > 0 && (
        <Badge tone="danger">
          {report.urls_truncated ? 'At least ' : ''}
          {counted(online, 'malware URL')} online
        </Badge>
      )}
    </>
  );
  const curl = askLine(`${location.origin}/api/intel/v1/byobject/cidr/ALL/listed/live/${cidr}`);
  const what = cidr.includes('/') ? 'network' : 'address';
  return <Head name={cidr} what={what} curl={curl} report={report} verdict={verdict} />;
}

type ListingsProps = { dataset: Dataset; listings: Listing[]; cidr: string };

function Listings({ dataset, listings, cidr }: ListingsProps) {
  const { name, meaning } = DATASETS[dataset];
  const live = listings.filter(({ state }) => state === 'live').length;
  const past = listings.length - live;
  const counts = [...(live > 0 ? [`${live} live`] : []), ...(past > 0 ? [`${past} past`] : [])];
  return (
    <Card title={`${capitalized(name)} (${dataset})`} aside={<span class="dim">{counts.join(', ')}</span>}>
      <p class="dim small under-head">{meaning}</p>
      <Folded class="listings" rows={listings}>
        {(listing) => (
          <Evidence
            key={`${listing.cidr} ${listing.source} ${listing.listed_ts} ${listing.botname} ${listing.details.dstport}`}
            listing={listing}
            cidr={cidr}
          />
        )}
      </Folded>
    </Card>
  );
}

function Evidence({ listing, cidr }: { listing: Listing; cidr: string }) {
  return (
    <li>
      <span class="row">
        <span class={`status ${listing.state === 'live' ? 'danger' : 'off'}`}>{listing.state}</span>
        {listing.cidr !== cidr && <NetworkLink cidr={listing.cidr} />}
        {listing.botname && <Family family={listing.botname} />}
        {detailTexts(listing.details).map((text) => (
          <span key={text} class="chip">
            {visible(text)}
          </span>
        ))}
      </span>
      <span class="meta">
        <span>reported by {visible(listing.source)}</span>
        <span>since {dateText(listing.listed_ts)}</span>
        <span>
          last seen <Ago ts={listing.seen_ts} />
        </span>
        <span>{endText(listing)}</span>
      </span>
    </li>
  );
}

function costOf(cidr: string): number {
  const parsed = parseNetwork(cidr);
  return parsed.ok ? parsed.network.cost : 1;
}

/** To an address, or to a network with its cost. */
function NetworkLink({ cidr }: { cidr: string }) {
  if (!cidr.includes('/'))
    return (
      <a class="mono" href={addressPath(cidr)}>
        {cidr}
      </a>
    );
  const path = networkTarget(cidr);
  return (
    <span class="row">
      <a class="mono" href={path} onClick={() => acceptCost(path)}>
        {cidr}
      </a>
      <Cost queries={costOf(cidr)} />
    </span>
  );
}

function Domains({ report }: { report: AddressPageResponse }) {
  const { domains, domains_truncated: isTruncated } = report;
  return (
    <Card title="Names that had an address here" aside={<Shown count={domains.length} isTruncated={isTruncated} />}>
      <Table
        most={FOLDED}
        caption="Names, newest first"
        rows={domains}
        keyOf={({ hostname }) => hostname}
        empty="No name is known that had its address here."
        columns={[
          { title: 'Name', cell: ({ hostname }) => <HostLink host={hostname} /> },
          {
            title: 'Domain',
            cell: ({ domain }) => (
              <a class="mono cut" href={domainPath(domain)}>
                {visible(domain)}
              </a>
            ),
          },
          { title: 'Last seen', isWide: true, cell: ({ last_ts: ts }) => <Ago ts={ts} /> },
        ]}
      />
    </Card>
  );
}

function Where({ report }: { report: AddressPageResponse }) {
  const { cidr, ip, asn, network, listings } = report;
  const live = listings.filter(({ state }) => state === 'live').length;
  const around = networksAround(cidr);
  const all = (count: number, isTruncated: boolean) => `${count}${isTruncated ? ' or more' : ''}`;
  return (
    <>
      <Card title="Facts">
        <Facts
          facts={{
            Network: asn === null ? <span class="dim">unknown</span> : <NetworkName asn={asn} network={network} />,
            'First address': cidr === ip ? null : <NetworkLink cidr={ip} />,
            'Live listings': all(live, report.listings_truncated),
            'Past listings': all(listings.length - live, report.listings_truncated),
            URLs: all(report.urls.length, report.urls_truncated),
            Names: all(report.domains.length, report.domains_truncated),
          }}
        />
      </Card>
      {around.length > 0 && (
        <Card title="Networks around it">
          <ul class="plain-list">
            {around.map(({ cidr: wider, cost, path, hasPage: isPage }) => (
              <li key={wider}>
                <span>
                  <a class="mono" href={path} onClick={() => acceptCost(path)}>
                    {wider}
                  </a>
                  {!isPage && <span class="dim small"> URLs only</span>}
                </span>
                {cost === 1 ? <span class="dim small">1 query</span> : <Cost queries={cost} />}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}
