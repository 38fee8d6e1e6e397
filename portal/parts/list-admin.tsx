import { useState } from 'preact/hooks';
import { ADMIN_API } from '../admin.ts';
import { post } from '../api.ts';
import { networkOrder } from '../by-hand.ts';
import {
  AGE_LABEL,
  brief,
  DATASETS,
  DEFINED_KIND_OPTIONS,
  type DefinedKind,
  type DeviceList,
  definedKind,
  END_OPTIONS,
  type ExclusionItem,
  readDefinition,
  readExclusion,
  readFilter,
  STATUS_OPTIONS,
} from '../device-lists.ts';
import { DAY, visible } from '../format.ts';
import { DATASET_WORDS } from '../formats.ts';
import { useGet } from '../load.ts';
import { go } from '../router.ts';
import { Ask } from './ask.tsx';
import { Ago, Badge, Card, Show, say } from './basics.tsx';
import { Check, Field, Select } from './forms.tsx';
import { ListLink } from './list-keys.tsx';
import { agoColumn, Table } from './table.tsx';

// What only administrators see on the page of lists.

const LISTS = `${ADMIN_API}/lists`;
const EXCLUSIONS = `${ADMIN_API}/exclusions`;

export function DefineList({ reload }: { reload(): void }) {
  return (
    <Ask
      text="Define a list"
      submit="Define the list"
      isPrimary
      act={async (texts) => {
        const { name } = await post<DeviceList>(LISTS, readDefinition(texts));
        say(`The list ${name} is defined.`);
      }}
      onDone={reload}
    >
      <NewListFields />
    </Ask>
  );
}

function NewListFields() {
  const [kind, setKind] = useState<DefinedKind>('hosts');
  return (
    <>
      <Field
        label="Name"
        name="name"
        isRequired
        hint="Lower-case letters, digits and hyphens. It is part of the address."
      />
      <Select
        label="What is on it"
        name="kind"
        value={kind}
        options={DEFINED_KIND_OPTIONS}
        onChoice={(value) => setKind(value as DefinedKind)}
      />
      <FilterFields kind={kind} />
    </>
  );
}

const DEFAULT_DAYS = 30;

function FilterFields({ kind, list }: { kind: DefinedKind; list?: DeviceList }) {
  const days = list === undefined ? DEFAULT_DAYS : list.age_seconds / DAY;
  const hasUrls = kind === 'urls' || kind === 'hosts';
  const hasScore = kind === 'hosts' || kind === 'domains';
  return (
    <>
      <Field label="Description" name="description" value={list?.description ?? ''} hint="For people." />
      <div class="two">
        {hasUrls && <Select label="Status" name="status" value={list?.status ?? 'online'} options={STATUS_OPTIONS} />}
        <Field label={AGE_LABEL} name="age" value={String(days)} isRequired />
      </div>
      {kind === 'addresses' && <DatasetFields list={list} />}
      <div class="two">
        <Field
          label="Families"
          name="families"
          value={list?.families.join(', ') ?? ''}
          hint="With commas between them. Empty: all."
        />
        {hasUrls && (
          <Field
            label="Reported by"
            name="reporters"
            value={list?.reporters.join(', ') ?? ''}
            hint="Empty: everybody."
          />
        )}
        {hasScore && (
          <Field
            label="Highest score of the domain"
            name="max_score"
            value={String(list?.max_score ?? '')}
            hint="Bad domains have a low score. Empty: any."
          />
        )}
      </div>
    </>
  );
}

function DatasetFields({ list }: { list: DeviceList | undefined }) {
  return (
    <fieldset>
      <legend>Datasets</legend>
      {DATASETS.map((name) => (
        <Check
          key={name}
          label={`${name}: ${DATASET_WORDS[name]}`}
          name={`dataset-${name}`}
          isChecked={list === undefined || list.datasets.includes(name)}
        />
      ))}
    </fieldset>
  );
}

/** The built-in lists cannot be changed. */
export function ListActions({ list, reload }: { list: DeviceList; reload(): void }) {
  const { name } = list;
  if (list.built_in) return null;
  return (
    <span class="row">
      <Ask
        text="Change"
        title={`Change ${name}`}
        submit="Change the list"
        act={async (texts) => {
          await post(`${LISTS}/${name}`, readFilter(definedKind(list), texts));
          say(`The list ${name} is changed.`);
        }}
        onDone={reload}
      >
        <FilterFields kind={definedKind(list)} list={list} />
      </Ask>
      <Ask
        text="Remove"
        title={`Remove ${name}?`}
        submit="Remove the list"
        isDangerous
        act={async () => {
          await post(`${LISTS}/${name}/remove`, {});
          say(`The list ${name} is removed.`);
        }}
        onDone={() => go('/lists')}
      >
        <p>Its keys and exclusions are removed too. Devices that fetch it get an error and keep what they have.</p>
      </Ask>
    </span>
  );
}

export function Exclusions({ lists }: { lists: readonly DeviceList[] }) {
  const loaded = useGet<{ items: ExclusionItem[] }>(EXCLUSIONS);
  return (
    <Card title="Exclusions" aside={<Exclude lists={lists} reload={loaded.reload} />}>
      <p class="dim small under-head">What is on no list, whatever the data says. Lookups still find it.</p>
      <Show loaded={loaded}>
        {({ items }) => (
          <Table
            caption="Exclusions from lists"
            rows={items}
            keyOf={({ id }) => id}
            empty="Nothing is excluded."
            columns={[
              { title: 'What', sort: ({ value }) => networkOrder(value), cell: (row) => <Excluded row={row} /> },
              {
                title: 'From',
                isWide: true,
                sort: ({ list }) => list,
                cell: ({ list }) => (list === null ? 'all lists' : <ListLink name={list} />),
              },
              { title: 'Reason', isWide: true, cell: ({ reason }) => <span class="reason-text">{brief(reason)}</span> },
              agoColumn('Set', (row: ExclusionItem) => row.set_ts),
              { title: 'Ends', sort: ({ until_ts: ts }) => ts, cell: (row) => <End row={row} /> },
              { title: 'Actions', cell: (row) => <Include row={row} reload={loaded.reload} /> },
            ]}
          />
        )}
      </Show>
    </Card>
  );
}

/** On a phone the list and the reason are below it. */
function Excluded({ row: { kind, value, subdomains, list, reason } }: { row: ExclusionItem }) {
  const about = subdomains ? 'and its subdomains' : kind === 'url' ? 'and what begins with it' : '';
  return (
    <span class="network">
      <span class="mono">{brief(value)}</span>
      {about && <small class="sub">{about}</small>}
      <small class="sub narrow">
        {list === null ? 'all lists' : visible(list)}: {brief(reason)}
      </small>
    </span>
  );
}

function End({ row: { until_ts: ts, ended } }: { row: ExclusionItem }) {
  if (ts === null) return <span class="dim">never</span>;
  return ended ? <Badge tone="off">ended</Badge> : <Ago ts={ts} />;
}

function Exclude({ lists, reload }: { lists: readonly DeviceList[]; reload(): void }) {
  return (
    <Ask
      text="Exclude something"
      title="Exclude something from lists"
      submit="Exclude it"
      isPrimary
      act={async (texts) => {
        const { value } = await post<ExclusionItem>(EXCLUSIONS, readExclusion(texts));
        say(`${brief(value)} is excluded.`);
      }}
      onDone={reload}
    >
      <Field
        label="Host, beginning of URLs, address or network"
        name="value"
        isRequired
        hint="Such as shop.example, https://files.example/shared/ or 203.0.113.0/24, also defanged."
      />
      <Check label="The subdomains of the host too" name="subdomains" />
      <div class="two">
        <Select
          label="From"
          name="list"
          value=""
          options={[{ value: '', text: 'all lists' }, ...lists.map(({ name }) => ({ value: name, text: name }))]}
        />
        <Select label="Ends" name="seconds" value={String(DEFAULT_DAYS * DAY)} options={END_OPTIONS} />
      </div>
      <Field label="Reason" name="reason" isRequired hint="Others will ask why." />
    </Ask>
  );
}

function Include({ row, reload }: { row: ExclusionItem; reload(): void }) {
  const { id, value } = row;
  return (
    <div class="small-buttons">
      <Ask
        text="Remove"
        about={value}
        title={`Remove the exclusion of ${brief(value)}?`}
        submit="Remove the exclusion"
        isDangerous
        act={async () => {
          await post(`${EXCLUSIONS}/${id}/remove`, {});
          say('The exclusion is removed.');
        }}
        onDone={reload}
      >
        <p>It is on the lists again as soon as the data says so. Devices get it with their next fetch.</p>
      </Ask>
    </div>
  );
}
