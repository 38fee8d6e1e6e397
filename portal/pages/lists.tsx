import { useRef, useState } from 'preact/hooks';
import { get, mistake, post, send } from '../api.ts';
import {
  brief,
  type DeviceList,
  type ExplainResponse,
  filePath,
  filterFacts,
  KIND_WORDS,
  LISTS_API,
  leftOutRows,
  leftOutSum,
  leftOutText,
  listPath,
  type Preview,
  previewPath,
  previewText,
  readPreview,
  reasonText,
} from '../device-lists.ts';
import { numberText, spanText, visible } from '../format.ts';
import { type Loaded, useLoad } from '../load.ts';
import '../main.tsx';
import type { PageProps } from '../main.tsx';
import { Ago, Badge, Card, Empty, Facts, Show } from '../parts/basics.tsx';
import { Field, Form, Select } from '../parts/forms.tsx';
import { DefineList, Exclusions, ListActions } from '../parts/list-admin.tsx';
import { ListKeys } from '../parts/list-keys.tsx';
import { ListSetup } from '../parts/list-setup.tsx';
import { Table } from '../parts/table.tsx';
import { go } from '../router.ts';
import { session } from '../session.ts';

type Lists = { items: DeviceList[] };

export function ListsPage({ values, query }: PageProps) {
  const { name } = values;
  const loaded = useLoad(`lists ${name ?? ''}`, (abort) => get<Lists>(LISTS_API, abort));
  if (name === undefined) return <AllLists loaded={loaded} />;
  return (
    <>
      <p>
        <a href="/lists">← All lists</a>
      </p>
      <Show loaded={loaded}>
        {({ items }) => {
          const list = items.find((one) => one.name === name);
          if (list === undefined) return <Missing name={name} />;
          return list.allowed ? (
            <OneList key={name} list={list} format={query.get('format')} reload={loaded.reload} />
          ) : (
            <NotAllowed list={list} />
          );
        }}
      </Show>
    </>
  );
}

function Missing({ name }: { name: string }) {
  return (
    <section class="card stack">
      <h1>There is no list {visible(name)}</h1>
      <p>It may have been removed, or the address has a mistake.</p>
    </section>
  );
}

function NotAllowed({ list: { name, needs, description } }: { list: DeviceList }) {
  return (
    <section class="card stack">
      <h1 class="mono">{name}</h1>
      <p>{brief(description)}</p>
      <p>Your subscription does not contain it: it needs the datasets {needs.join(', ')}.</p>
    </section>
  );
}

function AllLists({ loaded }: { loaded: Loaded<Lists> }) {
  const isAdmin = session.value?.admin === true;
  return (
    <>
      <div class="page-head">
        <h1>Lists for devices</h1>
        {isAdmin && <DefineList reload={loaded.reload} />}
      </div>
      <p class="dim">
        Firewalls, resolvers and proxies fetch them again and again, each with a key of its own. Open a list to see it
        and to set up a device.
      </p>
      <Show loaded={loaded}>
        {({ items }) => (
          <>
            <Card title="Lists that you may fetch">
              <ListTable lists={items.filter(({ allowed }) => allowed)} />
              {items.some(({ allowed, entries }) => allowed && entries === null) && (
                <p class="dim small below">A list is counted when somebody fetches or opens it.</p>
              )}
              <Others lists={items.filter(({ allowed }) => !allowed)} />
            </Card>
            <ListKeys />
            {isAdmin && <Exclusions lists={items} />}
          </>
        )}
      </Show>
    </>
  );
}

/** Nobody has fetched it since the server was started: only a fetch builds it. */
const NotCounted = () => <span class="dim nowrap">not yet</span>;

function ListTable({ lists }: { lists: readonly DeviceList[] }) {
  return (
    <Table
      caption="Lists that you may fetch"
      rows={lists}
      keyOf={({ name }) => name}
      empty="Your subscription has no dataset of which there is a list."
      columns={[
        {
          title: 'List',
          sort: ({ name }) => name,
          cell: ({ name, description }) => (
            <span class="list-cell">
              <a class="mono" href={listPath(name)}>
                {name}
              </a>
              <small class="sub">{brief(description)}</small>
            </span>
          ),
        },
        { title: 'What is on it', isWide: true, sort: ({ kind }) => kind, cell: ({ kind }) => KIND_WORDS[kind] },
        {
          title: 'Entries',
          isNumber: true,
          sort: ({ entries }) => entries,
          cell: ({ entries }) => (entries === null ? <NotCounted /> : numberText(entries)),
        },
        {
          title: 'Left out',
          isNumber: true,
          isWide: true,
          sort: (list) => (list.entries === null ? null : leftOutSum(list.left_out)),
          cell: (list) => list.entries !== null && numberText(leftOutSum(list.left_out)),
        },
        {
          title: 'Changed',
          isNumber: true,
          isWide: true,
          sort: ({ serial_ts: ts }) => ts,
          cell: ({ serial_ts: ts }) => ts !== null && <Ago ts={ts} />,
        },
      ]}
    />
  );
}

function Others({ lists }: { lists: readonly DeviceList[] }) {
  if (lists.length === 0) return null;
  const texts = lists.map(({ name, needs }) => `${name} (${needs.join(', ')})`);
  return <p class="dim small below">Not part of your subscription: {texts.join(', ')}.</p>;
}

type OneListProps = { list: DeviceList; format: string | null; reload(): void };

function OneList({ list, format: asked, reload }: OneListProps) {
  const { name, formats } = list;
  const format = formats.find((one) => one.name === asked)?.name ?? formats[0]?.name ?? '';
  const [keyRound, setKeyRound] = useState(0);
  const preview = useLoad(`${name} ${format} ${list.changed_ts}`, async (abort) => {
    const response = await send(previewPath(name, format), { method: 'GET' }, abort);
    return readPreview(response.headers, await response.text());
  });
  // What is shown stays until the next format is there.
  const last = useRef<Preview | null>(null);
  if (preview.state === 'done') last.current = preview.data;
  const built = preview.state === 'failed' ? null : last.current;
  // The rest waits for the first preview: it would move when the numbers and the preview appear above it.
  const isPreviewed = useRef(false);
  if (preview.state !== 'loading') isPreviewed.current = true;
  return (
    <>
      <div class="page-head">
        <h1 class="mono">{name}</h1>
        {session.value?.admin && <ListActions list={list} reload={reload} />}
      </div>
      <p class="dim">{brief(list.description)}</p>
      {built ? (
        <Numbers built={built} />
      ) : (
        <Show loaded={preview} what="The list is being built">
          {() => null}
        </Show>
      )}
      {isPreviewed.current && (
        <div class="columns">
          <div>
            <Card title="Preview" aside={<Download name={name} format={format} />}>
              <div class="stack">
                <Select
                  label="Format"
                  name="format"
                  value={format}
                  options={formats.map((one) => ({ value: one.name, text: `${one.name}: ${one.summary}` }))}
                  onChoice={(value) => go(`${listPath(name)}?format=${value}`, 'replace')}
                />
                {built && <PreviewText built={built} format={format} />}
              </div>
            </Card>
            <ListSetup list={list} onKey={() => setKeyRound(keyRound + 1)} />
            <ListKeys list={name} round={keyRound} />
          </div>
          <div>
            <Card title="Filter">
              <Facts facts={filterFacts(list)} />
            </Card>
            {built && <LeftOutCard built={built} />}
            <Why name={name} />
          </div>
        </div>
      )}
    </>
  );
}

function Numbers({ built }: { built: Preview }) {
  const { entries, leftOut, changedTs, staleSeconds } = built;
  return (
    <section class="card" aria-label="Numbers">
      <dl class="stats three-stats">
        <div>
          <dt>Entries</dt>
          <dd>{numberText(entries)}</dd>
        </div>
        <div>
          <dt>Left out</dt>
          <dd>{numberText(leftOutSum(leftOut))}</dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Ago ts={changedTs} />
          </dd>
        </div>
      </dl>
      {staleSeconds !== null && (
        <p class="below">
          <Badge tone="late">Late</Badge> The server cannot build it now. Devices get the last good copy, which was
          built {spanText(staleSeconds)} ago.
        </p>
      )}
    </section>
  );
}

function Download({ name, format }: { name: string; format: string }) {
  return (
    <a class="button" href={filePath(name, format)} download={`${name}.${format}`}>
      Download all
    </a>
  );
}

function PreviewText({ built, format }: { built: Preview; format: string }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <section class="list-preview" tabIndex={0} aria-label={`The newest entries as ${format}`}>
        <pre>{built.lines.join('\n')}</pre>
      </section>
      <p class="dim small">{previewText(built)}</p>
    </>
  );
}

function LeftOutCard({ built: { leftOut } }: { built: Preview }) {
  const rows = leftOutRows(leftOut);
  return (
    <Card title="Left out, and why">
      {rows.length === 0 ? (
        <Empty>Everything that fits the filter is on the list.</Empty>
      ) : (
        <Facts facts={Object.fromEntries(rows.map(([reason, count]) => [leftOutText(reason), numberText(count)]))} />
      )}
    </Card>
  );
}

function Why({ name }: { name: string }) {
  const [explanation, setExplanation] = useState<ExplainResponse | null>(null);
  return (
    <Card title="Why is this not on the list?">
      <Form
        submit="Explain"
        onSubmit={async ({ text = '' }) => {
          setExplanation(null);
          if (text.trim() === '') throw mistake('Type a URL, a host name, an address or a network.');
          setExplanation(await post<ExplainResponse>(`${LISTS_API}/${name}/explain`, { text }));
        }}
      >
        <Field
          label="URL, host name, address or network"
          name="text"
          isRequired
          hint="Also defanged. Costs one query."
        />
      </Form>
      <div aria-live="polite">{explanation && <Explanation explanation={explanation} />}</div>
    </Card>
  );
}

function Explanation({ explanation: { subject, on_list: isOnList, reasons } }: { explanation: ExplainResponse }) {
  return (
    <div class="stack why below">
      <p>
        <Badge tone={isOnList ? 'danger' : 'off'}>{isOnList ? 'On the list' : 'Not on the list'}</Badge>{' '}
        <span class="mono">{brief(subject)}</span>
      </p>
      <ul class="listings">
        {reasons.map(({ reason, text }) => (
          <li key={text}>
            <strong>{reasonText(reason)}</strong>
            <span>{brief(text)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
