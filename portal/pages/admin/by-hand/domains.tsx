import type { SetDomain } from '../../../../src/admin/domains.ts';
import { ADMIN_API } from '../../../admin.ts';
import { post } from '../../../api.ts';
import { abusedOptions, abusedText, humanText, readDomain } from '../../../by-hand.ts';
import { visible } from '../../../format.ts';
import { useGet } from '../../../load.ts';
import { Ask } from '../../../parts/ask.tsx';
import { Card, Show, say } from '../../../parts/basics.tsx';
import { Field, type FormTexts, Select } from '../../../parts/forms.tsx';
import { agoColumn, MANY, Table } from '../../../parts/table.tsx';
import { domainPath } from '../../../query.ts';
import { REASON_HINT, Reason, Truncated } from './parts.tsx';

const DOMAINS = `${ADMIN_API}/domains`;

export function Domains() {
  const loaded = useGet<{ items: SetDomain[]; truncated: boolean }>(DOMAINS);
  return (
    <Card
      title="Domains"
      aside={
        <Ask text="Set a domain" submit="Set" isPrimary act={setDomain} onDone={loaded.reload}>
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
              most={MANY}
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
                { title: 'Points', isNumber: true, sort: ({ human }) => human, cell: ({ human }) => humanText(human) },
                { title: 'Abused', cell: ({ abused }) => abusedText(abused) },
                { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
                agoColumn('Set', (row: SetDomain) => row.set_ts),
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

async function setDomain(texts: FormTexts): Promise<void> {
  const { domain } = await post<SetDomain>(DOMAINS, readDomain(texts));
  say(`${visible(domain)} is set.`);
}

function DomainFields({ row }: { row?: SetDomain }) {
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

function DomainActions({ row, reload }: { row: SetDomain; reload(): void }) {
  const { domain } = row;
  return (
    <div class="row tight small-buttons">
      <Ask
        text="Edit"
        about={domain}
        title={`Set ${visible(domain)}`}
        submit="Set"
        act={(texts) => setDomain({ ...texts, domain })}
        onDone={reload}
      >
        <DomainFields row={row} />
      </Ask>
    </div>
  );
}
