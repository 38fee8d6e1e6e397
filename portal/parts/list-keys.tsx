import { ADMIN_API } from '../admin.ts';
import { get, post } from '../api.ts';
import { brief, type DeviceKey, listPath, OWN_KEYS_API } from '../device-lists.ts';
import { visible } from '../format.ts';
import { useLoad } from '../load.ts';
import { session } from '../session.ts';
import { Ask } from './ask.tsx';
import { Ago, Card, Show, say } from './basics.tsx';
import { agoColumn, type Column, Table } from './table.tsx';

/** Administrators see the keys of all accounts. */
const isAdmin = (): boolean => session.value?.admin === true;
const keysApi = (): string => (isAdmin() ? `${ADMIN_API}/list-keys` : OWN_KEYS_API);

/** `list`: only its keys. `round`: read again when it changes. */
export function ListKeys({ list, round = 0 }: { list?: string; round?: number }) {
  const loaded = useLoad(`keys ${round}`, (abort) =>
    get<{ items: DeviceKey[]; truncated?: boolean }>(keysApi(), abort),
  );
  const columns: Column<DeviceKey>[] = [
    {
      title: 'Device',
      sort: ({ device }) => device,
      cell: (row) => (
        <span class="network">
          {brief(row.device)}
          {list === undefined && (
            <a class="sub narrow mono" href={listPath(row.list)}>
              {visible(row.list)}
            </a>
          )}
          {isAdmin() && <small class="sub narrow">{accountText(row)}</small>}
        </span>
      ),
    },
    ...(list === undefined ? [LIST_COLUMN] : []),
    ...(isAdmin() ? [ACCOUNT_COLUMN] : []),
    agoColumn('Made', (row: DeviceKey) => row.created_ts),
    {
      title: 'Last fetch',
      sort: ({ last_fetch_ts: ts }) => ts,
      cell: ({ last_fetch_ts: ts, last_fetch_address: address }) => (
        <>
          <Ago ts={ts} />
          {address !== null && <small class="sub mono">{brief(address)}</small>}
        </>
      ),
    },
    { title: 'Actions', cell: (row) => <Revoke row={row} reload={loaded.reload} /> },
  ];
  return (
    <Card title={titleOf(list)}>
      <Show loaded={loaded}>
        {({ items, truncated }) => (
          <>
            <Table
              caption="Keys of devices"
              rows={list === undefined ? items : items.filter((key) => key.list === list)}
              keyOf={({ id }) => id}
              empty={list === undefined ? 'No device has a key yet. Open a list to make one.' : 'No key of this list.'}
              columns={columns}
              most={MOST_KEYS}
            />
            {truncated && <p class="dim small below">There are more keys. The newest are shown.</p>}
          </>
        )}
      </Show>
    </Card>
  );
}

const MOST_KEYS = 20;

const LIST_COLUMN: Column<DeviceKey> = {
  title: 'List',
  isWide: true,
  sort: ({ list }) => list,
  cell: ({ list }) => <ListLink name={list} />,
};

function titleOf(list: string | undefined): string {
  if (list !== undefined) return isAdmin() ? 'Keys of this list' : 'Your keys of this list';
  return isAdmin() ? 'Keys of all accounts' : 'Your keys';
}

const accountText = ({ username }: DeviceKey): string =>
  username === null || username === undefined ? 'removed' : brief(username);

const ACCOUNT_COLUMN: Column<DeviceKey> = { title: 'Account', isWide: true, sort: accountText, cell: accountText };

export function ListLink({ name }: { name: string }) {
  return (
    <a class="mono" href={listPath(name)}>
      {visible(name)}
    </a>
  );
}

function Revoke({ row, reload }: { row: DeviceKey; reload(): void }) {
  const { id, device, list } = row;
  return (
    <div class="small-buttons">
      <Ask
        text="Revoke"
        about={`${device}, ${list}`}
        title={`Revoke the key of ${brief(device)}?`}
        submit="Revoke the key"
        isDangerous
        act={async () => {
          await post(`${keysApi()}/${id}/remove`, {});
          say(`The key of ${brief(device)} is revoked.`);
        }}
        onDone={reload}
      >
        <p>
          Within five seconds the device can no longer fetch {visible(list)}. It keeps what it has. A revoked key cannot
          be restored.
        </p>
      </Ask>
    </div>
  );
}
