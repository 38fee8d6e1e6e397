import type { AllowEntry } from '../../../../src/admin/allow-list.ts';
import { ADMIN_API } from '../../../admin.ts';
import { post } from '../../../api.ts';
import { isByHand, networkOrder } from '../../../by-hand.ts';
import { visible } from '../../../format.ts';
import { useGet } from '../../../load.ts';
import { Ask } from '../../../parts/ask.tsx';
import { Card, Show, say } from '../../../parts/basics.tsx';
import { Field } from '../../../parts/forms.tsx';
import { agoColumn, MANY, Table } from '../../../parts/table.tsx';
import { Network, REASON_HINT, Reason, Truncated } from './parts.tsx';

const ALLOW = `${ADMIN_API}/allow`;

/** `onChange`: listings have another state on the allow list. */
export function AllowList({ onChange }: { onChange(): void }) {
  const loaded = useGet<{ items: AllowEntry[]; truncated: boolean }>(ALLOW);
  const reload = () => {
    loaded.reload();
    onChange();
  };
  const aside = (
    <Ask
      text="Allow a network"
      title="Never list an address or a network"
      submit="Allow"
      isPrimary
      act={async ({ cidr, reason }) => {
        const added = await post<AllowEntry>(ALLOW, { cidr, reason });
        say(`${visible(added.cidr)} is never listed.`);
      }}
      onDone={reload}
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
              most={MANY}
              empty="No network is on the allow list."
              columns={[
                { title: 'Network', sort: ({ cidr }) => networkOrder(cidr), cell: (row) => <Network {...row} /> },
                {
                  title: 'From',
                  sort: ({ source }) => source,
                  cell: (row) => (isByHand(row) ? 'by hand' : visible(row.source)),
                },
                { title: 'Reason', isWide: true, cell: ({ reason }) => <Reason text={reason} /> },
                agoColumn('Added', (row: AllowEntry) => row.ts),
                { title: 'Actions', cell: (row) => <Disallow row={row} reload={reload} /> },
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
        act={async () => {
          await post(`${ALLOW}/remove`, { cidr });
          say(`${visible(cidr)} can be listed again.`);
        }}
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
