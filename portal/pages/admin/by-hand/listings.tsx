import type { AddedListing, ListingsResponse, RemovalResponse } from '../../../../src/admin/listings.ts';
import { ADMIN_API } from '../../../admin.ts';
import { post } from '../../../api.ts';
import { listedAs, networkOrder, REMOVAL_OPTIONS, readListing, readRemoval, removalText } from '../../../by-hand.ts';
import { visible } from '../../../format.ts';
import { DATASET_OPTIONS, DATASET_WORDS } from '../../../formats.ts';
import { useGet } from '../../../load.ts';
import { Ask } from '../../../parts/ask.tsx';
import { Ago, Badge, Card, Show, say } from '../../../parts/basics.tsx';
import { Check, Field, type FormTexts, Select } from '../../../parts/forms.tsx';
import { agoColumn, MANY, Table } from '../../../parts/table.tsx';
import { Network, REASON_HINT, Reason, Truncated } from './parts.tsx';

const LISTINGS = `${ADMIN_API}/listings`;

const Dataset = ({ name }: { name: string }) => <span title={DATASET_WORDS[name]}>{visible(name)}</span>;

export const useListings = () => useGet<ListingsResponse>(LISTINGS);

export function Listings({ loaded }: { loaded: ReturnType<typeof useListings> }) {
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
            act={async (texts) => say(visible(listedAs(await post<AddedListing>(LISTINGS, readListing(texts)))))}
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
      most={MANY}
      empty="Nobody is listed by hand."
      columns={[
        {
          title: 'Network',
          sort: ({ cidr }) => networkOrder(cidr),
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
        agoColumn('Added', (row: AddedListing) => row.seen_ts),
        agoColumn('Ends', (row: AddedListing) => row.valid_until_ts),
        { title: 'Actions', cell: (row) => row.state === 'live' && <RemoveListing row={row} reload={reload} /> },
      ]}
    />
  );
}

function RemoveListing({ row, reload }: { row?: AddedListing; reload(): void }) {
  const remove = async (texts: FormTexts) => {
    const body = readRemoval(row ? { ...texts, cidr: row.cidr, dataset: row.dataset } : texts);
    say(visible(removalText(await post<RemovalResponse>(`${LISTINGS}/remove`, body))));
  };
  return (
    <div class={row ? 'small-buttons' : ''}>
      <Ask
        text={row ? 'Remove' : 'Remove a listing'}
        {...(row && { about: `${row.cidr} ${row.dataset}` })}
        title={row ? `Remove ${visible(row.cidr)} from ${visible(row.dataset)}?` : 'Remove a listing'}
        submit="Remove the listing"
        isDangerous
        act={remove}
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

type RemovedListing = RemovalResponse['removed'][number];

function RemovedTable({ rows }: { rows: RemovedListing[] }) {
  return (
    <Table
      caption="Listings removed by hand"
      rows={rows}
      keyOf={({ cidr, dataset, source }) => `${cidr} ${dataset} ${source}`}
      most={MANY}
      empty="No listing was removed by hand."
      columns={[
        { title: 'Network', sort: ({ cidr }) => networkOrder(cidr), cell: (row) => <Network {...row} /> },
        { title: 'Dataset', sort: ({ dataset }) => dataset, cell: ({ dataset }) => <Dataset name={dataset} /> },
        { title: 'Source', isWide: true, sort: ({ source }) => source, cell: ({ source }) => visible(source) },
        { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
        agoColumn('Removed', (row: RemovedListing) => row.removed_ts),
        { title: 'Can be listed again', sort: (row) => row.until_ts, cell: (row) => <Ago ts={row.until_ts} /> },
      ]}
    />
  );
}
