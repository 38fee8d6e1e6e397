import '../../main.tsx';
import type { KeysResponse } from '../../../src/admin/wire.ts';
import { ADMIN_API } from '../../admin.ts';
import { post } from '../../api.ts';
import { visible } from '../../format.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ask } from '../../parts/ask.tsx';
import { Ago, Badge, Card, Show, say } from '../../parts/basics.tsx';
import { Table } from '../../parts/table.tsx';

const KEYS = `${ADMIN_API}/keys`;

export function KeysAdmin(_: PageProps) {
  const loaded = useGet<KeysResponse>(KEYS);
  return (
    <>
      <h1>Signing keys</h1>
      <p class="dim">
        Tokens of the API are signed with the newest key. The older ones verify tokens that were signed before. Browsers
        do not use them: their sessions are kept in the store. Secrets are never shown.
      </p>
      <Show loaded={loaded}>
        {(keys) => (
          <div class="columns">
            <div>
              <Card title="Keys">
                <KeyTable keys={keys} />
              </Card>
            </div>
            <div>
              <Card title="Rotate">{keys.from_file ? <FromFile /> : <Rotate reload={loaded.reload} />}</Card>
            </div>
          </div>
        )}
      </Show>
    </>
  );
}

function KeyTable({ keys: { items } }: { keys: KeysResponse }) {
  return (
    <Table
      caption="Signing keys, the newest first"
      rows={items}
      keyOf={({ kid }) => kid}
      empty="There is no key yet: the first start makes one."
      columns={[
        { title: 'Id', cell: ({ kid }) => <span class="mono">{visible(kid)}</span> },
        {
          title: 'Made',
          cell: ({ created_ts: ts }) => (ts === null ? <span class="dim">not known</span> : <Ago ts={ts} />),
        },
        {
          title: 'Use',
          cell: ({ signs }) => (signs ? <Badge tone="ok">signs</Badge> : <Badge tone="off">verifies</Badge>),
        },
      ]}
    />
  );
}

function FromFile() {
  return (
    <p>
      The keys are in a file (<code>--signing-key-file</code>). To rotate, add a new key as its first line and restart
      the servers; remove the old line when its tokens have expired.
    </p>
  );
}

function Rotate({ reload }: { reload(): void }) {
  const rotate = (now: boolean, words: string) => async () => {
    await post(`${KEYS}/rotate`, now ? { now } : {});
    say(words);
  };
  return (
    <div class="stack">
      <p>
        A new key signs from now on. Tokens that exist stay valid until they expire, so nobody notices. An old key is
        deleted by a rotation 25 days later.
      </p>
      <Ask
        text="Rotate"
        title="Rotate the signing key"
        submit="Rotate"
        isPrimary
        act={rotate(false, 'A new key signs tokens.')}
        onDone={reload}
      >
        <p>A new key signs from now on. Tokens that exist stay valid until they expire.</p>
      </Ask>
      <p>
        If a key or a backup may have leaked, drop the old keys too: every token becomes invalid within five seconds.
      </p>
      <Ask
        text="Rotate and end all tokens"
        submit="End all tokens"
        isDangerous
        act={rotate(true, 'A new key signs tokens. All older tokens are invalid.')}
        onDone={reload}
      >
        <p>
          Every program that uses the API has to log in again. Most do so by themselves; those with a stored token fail
          until they get a new one.
        </p>
      </Ask>
    </div>
  );
}
