import type { ComponentChildren } from 'preact';
import { ADMIN_API } from '../../admin.ts';
import { get, post } from '../../api.ts';
import { numberText, visible } from '../../format.ts';
import { DATASET_OPTIONS, DATASET_WORDS } from '../../formats.ts';
import {
  type AddedListing,
  type AllowEntry,
  abusedOptions,
  abusedText,
  type HandDomain,
  humanText,
  isByHand,
  listedAs,
  networkPath,
  REMOVAL_OPTIONS,
  type RemovedListing,
  readDomain,
  readListing,
  readRemoval,
  removalText,
} from '../../lists.ts';
import { useLoad } from '../../load.ts';
import { Ask } from '../../parts/ask.tsx';
import { Ago, Badge, Card, Show, say } from '../../parts/basics.tsx';
import { Check, Field, Select } from '../../parts/forms.tsx';
import { Table } from '../../parts/table.tsx';
import { domainPath } from '../../question.ts';

const DOMAINS = `${ADMIN_API}/domains`;
const LISTINGS = `${ADMIN_API}/listings`;
const ALLOW = `${ADMIN_API}/allow`;

export function ListsAdmin() {
  return (
    <>
      <h1>Lists by hand</h1>
      <p class="dim">What people decided beside the feeds. The audit log has every change.</p>
      <Domains />
      <Listings />
      <AllowList />
    </>
  );
}

/** Posts, then says what happened and reads the list again. */
function acting<T>(path: string, body: (texts: Record<string, string>) => object, done: (answer: T) => string) {
  return async (texts: Record<string, string>) => {
    say(visible(done(await post<T>(path, body(texts)))));
    return undefined;
  };
}

function Truncated({ isTruncated, shown }: { isTruncated: boolean; shown: number }) {
  return isTruncated ? <p class="dim small below">There are more. The first {numberText(shown)} are shown.</p> : null;
}

const REASON_HINT = 'Others will ask why.';

function Domains() {
  const loaded = useLoad('domains', (abort) => get<{ items: HandDomain[]; truncated: boolean }>(DOMAINS, abort));
  const act = acting<HandDomain>(DOMAINS, readDomain, ({ domain }) => `${domain} is set.`);
  return (
    <Card
      title="Domains"
      aside={
        <Ask text="Set a domain" title="Set a domain" submit="Set" isPrimary act={act} onDone={loaded.reload}>
          <Field label="Domain" name="domain" isRequired hint="Such as shop.example, also defanged." />
          <DomainFields />
        </Ask>
      }
    >
      <Show loaded={loaded}>
        {({ items, truncated }) => (
          <>
            <Table
              caption="Domains set by hand"
              rows={items}
              keyOf={({ domain }) => domain}
              empty="No domain was set by hand: scores follow from the data alone."
              columns={[
                {
                  title: 'Domain',
                  sort: ({ domain }) => domain,
                  cell: ({ domain, reason }) => (
                    <>
                      <a class="mono cut" href={domainPath(domain)}>
                        {visible(domain)}
                      </a>
                      <small class="sub narrow">{visible(reason)}</small>
                    </>
                  ),
                },
                {
                  title: 'Points',
                  isNumber: true,
                  sort: ({ human }) => human,
                  cell: ({ human }) => humanText(human),
                },
                { title: 'Abused', cell: ({ abused }) => abusedText(abused) },
                { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
                { title: 'Set', isWide: true, sort: ({ set_ts: ts }) => ts, cell: ({ set_ts: ts }) => <Ago ts={ts} /> },
                { title: 'Actions', cell: (row) => <DomainActions row={row} reload={loaded.reload} /> },
              ]}
            />
            <Truncated isTruncated={truncated} shown={items.length} />
          </>
        )}
      </Show>
    </Card>
  );
}

function DomainFields({ row }: { row?: HandDomain }) {
  return (
    <>
      <Field
        label="Points for its score"
        name="human"
        value={row ? String(row.human) : ''}
        hint="−50 (bad) to +50 (good); 0: none."
      />
      <Select
        label="Abused: a legitimate domain that others misuse"
        name="abused"
        value={row ? String(row.abused) : 'keep'}
        options={abusedOptions(row === undefined)}
      />
      <Field label="Reason" name="reason" value={row?.reason ?? ''} isRequired hint={REASON_HINT} />
    </>
  );
}

function DomainActions({ row, reload }: { row: HandDomain; reload(): void }) {
  const { domain } = row;
  return (
    <div class="row tight small-buttons">
      <Ask
        text="Edit"
        about={domain}
        title={`Set ${visible(domain)}`}
        submit="Set"
        act={acting<HandDomain>(
          DOMAINS,
          (texts) => readDomain({ ...texts, domain }),
          () => `${domain} is set.`,
        )}
        onDone={reload}
      >
        <DomainFields row={row} />
      </Ask>
    </div>
  );
}

const Reason = ({ text }: { text: string }) =>
  text === '' ? <span class="dim">none given</span> : <span class="reason-text">{visible(text)}</span>;

/** On a phone the reason is below it. */
function Network({ cidr, reason }: { cidr: string; reason: string }) {
  return (
    <span class="network">
      <a class="mono" href={networkPath(cidr)}>
        {visible(cidr)}
      </a>
      <small class="sub narrow">{visible(reason)}</small>
    </span>
  );
}

const Dataset = ({ name }: { name: string }) => <span title={DATASET_WORDS[name]}>{visible(name)}</span>;

type ListingsAnswer = {
  added: AddedListing[];
  added_truncated: boolean;
  removed: RemovedListing[];
  removed_truncated: boolean;
};

function Listings() {
  const loaded = useLoad('listings', (abort) => get<ListingsAnswer>(LISTINGS, abort));
  const { reload } = loaded;
  return (
    <>
      <Card
        title="Listings added by hand"
        aside={
          <Ask
            text="Add a listing"
            title="List an address or a network"
            submit="Add the listing"
            isPrimary
            act={acting<AddedListing>(LISTINGS, readListing, listedAs)}
            onDone={reload}
          >
            <ListingFields />
          </Ask>
        }
      >
        <Show loaded={loaded}>
          {({ added, added_truncated: isTruncated }) => (
            <>
              <AddedTable rows={added} reload={reload} />
              <Truncated isTruncated={isTruncated} shown={added.length} />
            </>
          )}
        </Show>
      </Card>
      <Card title="Listings removed by hand" aside={<RemoveListing reload={reload} />}>
        <Show loaded={loaded}>
          {({ removed, removed_truncated: isTruncated }) => (
            <>
              <RemovedTable rows={removed} />
              <Truncated isTruncated={isTruncated} shown={removed.length} />
            </>
          )}
        </Show>
      </Card>
    </>
  );
}

function ListingFields() {
  return (
    <>
      <Field label="Address or network" name="cidr" isRequired hint="Such as 203.0.113.7 or 203.0.113.0/24." />
      <Select label="Dataset" name="dataset" value="XBL" options={DATASET_OPTIONS} />
      <div class="two">
        <Field label="Malware family" name="botname" hint="If it is known." />
        <Field label="Port" name="port" hint="Of a controller." />
      </div>
      <Check label="A legitimate host that somebody broke into" name="abused" />
      <Field label="Reason" name="reason" isRequired hint={REASON_HINT} />
    </>
  );
}

const reasonOf = ({ details }: AddedListing): string => String(details.detection ?? '');

function AddedTable({ rows, reload }: { rows: AddedListing[]; reload(): void }) {
  return (
    <Table
      caption="Listings added by hand"
      rows={rows}
      keyOf={({ cidr, dataset, botname, port }) => `${cidr} ${dataset} ${botname} ${port}`}
      empty="Nobody is listed by hand."
      columns={[
        {
          title: 'Network',
          sort: ({ cidr }) => cidr,
          cell: (row) => <Network cidr={row.cidr} reason={`${row.dataset}: ${reasonOf(row)}`} />,
        },
        {
          title: 'Dataset',
          isWide: true,
          sort: ({ dataset }) => dataset,
          cell: ({ dataset }) => <Dataset name={dataset} />,
        },
        {
          title: 'State',
          cell: ({ state }) => <Badge tone={state === 'live' ? 'danger' : 'off'}>{visible(state)}</Badge>,
        },
        { title: 'Reason', isWide: true, cell: (row) => <Reason text={reasonOf(row)} /> },
        { title: 'Added', isWide: true, sort: ({ seen_ts: ts }) => ts, cell: ({ seen_ts: ts }) => <Ago ts={ts} /> },
        {
          title: 'Ends',
          isWide: true,
          sort: ({ valid_until_ts: ts }) => ts,
          cell: ({ valid_until_ts: ts }) => <Ago ts={ts} />,
        },
        {
          title: 'Actions',
          cell: (row) => row.state === 'live' && <RemoveListing row={row} reload={reload} />,
        },
      ]}
    />
  );
}

type RemoveAnswer = { cidr: string; removed: RemovedListing[]; still_covered_by: string[] };

function RemoveListing({ row, reload }: { row?: AddedListing; reload(): void }) {
  const body = (texts: Record<string, string>) =>
    readRemoval(row ? { ...texts, cidr: row.cidr, dataset: row.dataset } : texts);
  return (
    <div class={row ? 'small-buttons' : ''}>
      <Ask
        text={row ? 'Remove' : 'Remove a listing'}
        {...(row && { about: `${row.cidr} ${row.dataset}` })}
        title={row ? `Remove ${visible(row.cidr)} from ${visible(row.dataset)}?` : 'Remove a listing'}
        submit="Remove the listing"
        isDangerous
        act={acting<RemoveAnswer>(`${LISTINGS}/remove`, body, removalText)}
        onDone={reload}
      >
        {row === undefined && (
          <>
            <Field label="Address or network" name="cidr" isRequired hint="Exactly as it is listed." />
            <Select
              label="Dataset"
              name="dataset"
              value=""
              options={[{ value: '', text: 'all' }, ...DATASET_OPTIONS]}
            />
          </>
        )}
        <Select label="Its sources do not list it again for" name="seconds" options={REMOVAL_OPTIONS} />
        <Field label="Reason" name="reason" isRequired hint={REASON_HINT} />
      </Ask>
    </div>
  );
}

function RemovedTable({ rows }: { rows: RemovedListing[] }) {
  return (
    <Table
      caption="Listings removed by hand"
      rows={rows}
      keyOf={({ cidr, dataset, source }) => `${cidr} ${dataset} ${source}`}
      empty="No listing was removed by hand."
      columns={[
        { title: 'Network', sort: ({ cidr }) => cidr, cell: (row) => <Network {...row} /> },
        { title: 'Dataset', sort: ({ dataset }) => dataset, cell: ({ dataset }) => <Dataset name={dataset} /> },
        { title: 'Source', isWide: true, sort: ({ source }) => source, cell: ({ source }) => visible(source) },
        { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
        { title: 'Removed', isWide: true, sort: (row) => row.removed_ts, cell: (row) => <Ago ts={row.removed_ts} /> },
        { title: 'Can be listed again', sort: (row) => row.until_ts, cell: (row) => <Ago ts={row.until_ts} /> },
      ]}
    />
  );
}

function AllowList() {
  const loaded = useLoad('allow', (abort) => get<{ items: AllowEntry[]; truncated: boolean }>(ALLOW, abort));
  const aside: ComponentChildren = (
    <Ask
      text="Allow a network"
      title="Never list an address or a network"
      submit="Allow"
      isPrimary
      act={acting<AllowEntry>(
        ALLOW,
        ({ cidr, reason }) => ({ cidr, reason }),
        ({ cidr }) => `${cidr} is never listed.`,
      )}
      onDone={loaded.reload}
    >
      <p>Whatever a source says, it is not listed. What is listed there now is no longer shown.</p>
      <Field label="Address or network" name="cidr" isRequired hint="Such as 192.0.2.53 or 192.0.2.0/24." />
      <Field label="Reason" name="reason" isRequired hint={REASON_HINT} />
    </Ask>
  );
  return (
    <Card title="Allow list" aside={aside}>
      <Show loaded={loaded}>
        {({ items, truncated }) => (
          <>
            <Table
              caption="Networks that are never listed"
              rows={items}
              keyOf={({ cidr, source }) => `${cidr} ${source}`}
              empty="No network is on the allow list."
              columns={[
                { title: 'Network', sort: ({ cidr }) => cidr, cell: (row) => <Network {...row} /> },
                {
                  title: 'From',
                  sort: ({ source }) => source,
                  cell: (row) => (isByHand(row) ? 'by hand' : visible(row.source)),
                },
                { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
                { title: 'Added', isWide: true, sort: ({ ts }) => ts, cell: ({ ts }) => <Ago ts={ts} /> },
                { title: 'Actions', cell: (row) => <Disallow row={row} reload={loaded.reload} /> },
              ]}
            />
            <Truncated isTruncated={truncated} shown={items.length} />
          </>
        )}
      </Show>
    </Card>
  );
}

function Disallow({ row, reload }: { row: AllowEntry; reload(): void }) {
  const { cidr } = row;
  return (
    <div class="small-buttons">
      <Ask
        text="Remove"
        about={cidr}
        title={`Take ${visible(cidr)} off the allow list?`}
        submit="Take it off"
        isDangerous
        act={acting(
          `${ALLOW}/remove`,
          () => ({ cidr }),
          () => `${cidr} can be listed again.`,
        )}
        onDone={reload}
      >
        <p>
          {isByHand(row)
            ? 'It can be listed again, as soon as a source says so.'
            : `It is on the list ${visible(row.source)}: the next import of that list adds it again.`}
        </p>
      </Ask>
    </div>
  );
}
