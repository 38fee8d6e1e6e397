import '../../main.tsx';
import type { AuditEntry } from '../../../src/audit/store.ts';
import { accountPath } from '../../admin.ts';
import {
  AUDIT_LIMIT,
  type AuditFilter,
  actionOptions,
  actionText,
  auditApi,
  auditPath,
  changeTexts,
  NO_FILTER,
  readAuditFilter,
} from '../../audit-log.ts';
import { numberText, visible } from '../../format.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ago, Card, Empty, Show, Time } from '../../parts/basics.tsx';
import { Field, Form, Select } from '../../parts/forms.tsx';
import { MANY, Table } from '../../parts/table.tsx';
import { go } from '../../router.ts';

function useEntries(filter: AuditFilter, limit?: number) {
  const path = auditApi(filter, limit);
  return useGet<{ items: AuditEntry[] }>(path);
}

export function AuditAdmin({ query }: PageProps) {
  const filter = readAuditFilter(query);
  const loaded = useEntries(filter);
  return (
    <>
      <h1>Audit log</h1>
      <Card title="Who changed what, from where">
        <Filter key={auditPath(filter)} filter={filter} />
      </Card>
      <Card>
        <Show loaded={loaded}>{({ items }) => <Entries key={auditPath(filter)} entries={items} />}</Show>
      </Card>
    </>
  );
}

/** The filter is in the address, so that it can be shared. */
function Filter({ filter: { action, subject, from, until } }: { filter: AuditFilter }) {
  const isSet = action !== '' || subject !== '' || from !== '' || until !== '';
  return (
    <div class="filter">
      <Form
        submit="Show"
        onSubmit={async (texts) => {
          go(auditPath({ ...NO_FILTER, ...texts }));
        }}
      >
        <Select label="Change" name="action" value={action} options={actionOptions()} />
        <Field label="Of what" name="subject" value={subject} />
        <Field label="From" name="from" type="date" value={from} />
        <Field label="Until" name="until" type="date" value={until} />
      </Form>
      <p class="dim small">
        “Of what” is the whole name of an account, tier, key, feed, network or domain. Days are UTC.{' '}
        {isSet && <a href="/admin/audit">Show all changes</a>}
      </p>
    </div>
  );
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  return (
    <>
      <Table
        caption="Changes, the newest first"
        rows={entries}
        keyOf={({ id }) => id}
        empty="No change fits this filter."
        most={MANY}
        columns={[
          {
            title: 'When',
            cell: ({ ts }) => (
              <span class="when">
                <Time ts={ts} />
              </span>
            ),
          },
          {
            title: 'What',
            cell: (entry) => (
              <>
                <div>{actionText(entry.action)}</div>
                <Subject entry={entry} />
                <div class="narrow small">
                  <ChangeList changes={entry.changes} />
                  <span class="dim">by </span>
                  <Actor entry={entry} />
                </div>
              </>
            ),
          },
          { title: 'Old → new', isWide: true, cell: ({ changes }) => <ChangeList changes={changes} /> },
          { title: 'By', isWide: true, cell: (entry) => <Actor entry={entry} /> },
        ]}
      />
      {entries.length === AUDIT_LIMIT && (
        <p class="dim small below">These are the newest {numberText(AUDIT_LIMIT)}. Choose days to see older ones.</p>
      )}
    </>
  );
}

function Subject({ entry: { action, subject } }: { entry: AuditEntry }) {
  const text = visible(subject);
  if (action.startsWith('account.') && action !== 'account.remove') {
    return (
      <a class="cut" href={accountPath(subject)}>
        {text}
      </a>
    );
  }
  return <span class="cut">{text}</span>;
}

const SOURCES: Record<AuditEntry['source'], string> = {
  cli: 'by command on',
  server: 'the server itself,',
  page: 'on a page, from',
  api: 'with a token, from',
};

function Actor({ entry: { source, actor, origin } }: { entry: AuditEntry }) {
  return (
    <>
      <span class="cut">{visible(actor)}</span>
      <div class="dim small">
        {SOURCES[source] ?? visible(source)} <span class="cut">{visible(origin)}</span>
      </div>
    </>
  );
}

/** `tier: developer → standard`; a value that did not exist is left out. */
function ChangeList({ changes }: Pick<AuditEntry, 'changes'>) {
  const list = changeTexts(changes);
  if (list.length === 0) return <div class="dim">values not shown</div>;
  return (
    <ul class="changes">
      {list.map(({ field, old, new: value }) => (
        <li key={field}>
          <span class="dim">{field}:</span> {old !== null && <del>{old}</del>} {old !== null && '→ '}
          {value === null ? <span class="dim">none</span> : <ins>{value}</ins>}
        </li>
      ))}
    </ul>
  );
}

const NEWEST = 8;

/** A short list for other pages. */
export function NewestChanges({ subject = '' }: { subject?: string }) {
  const loaded = useEntries({ ...NO_FILTER, subject }, NEWEST);
  return (
    <Show loaded={loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>Nothing was changed yet.</Empty>
        ) : (
          <ul class="plain-list">
            {items.map((entry) => (
              <li key={entry.id}>
                <span class="row tight">
                  <span>{actionText(entry.action)}</span>
                  {subject === '' && <Subject entry={entry} />}
                </span>
                <span class="dim small end">
                  {visible(entry.actor)}, <Ago ts={entry.ts} />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Show>
  );
}
