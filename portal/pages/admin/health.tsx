import '../../main.tsx';
import type { HealthResponse } from '../../../src/admin/wire.ts';
import { ADMIN_API } from '../../admin.ts';
import { bytesText, visible } from '../../format.ts';
import { ENGINE_WORDS, healthLines, isAway } from '../../health.ts';
import { useGet } from '../../load.ts';
import type { PageProps } from '../../main.tsx';
import { Ago, Badge, Card, Facts, Show } from '../../parts/basics.tsx';
import { Table } from '../../parts/table.tsx';

export const useHealth = () => useGet<HealthResponse>(`${ADMIN_API}/health`);

export function HealthAdmin(_: PageProps) {
  const loaded = useHealth();
  return (
    <>
      <div class="page-head">
        <h1>Health</h1>
        <button type="button" class="button" onClick={loaded.reload}>
          Check again
        </button>
      </div>
      <Show loaded={loaded}>{(health) => <Parts health={health} />}</Show>
    </>
  );
}

/** In words, the worst ones in colour. */
export function HealthList({ health }: { health: HealthResponse }) {
  return (
    <ul class="health">
      {healthLines(health).map(({ tone, state, text }) => (
        <li key={text}>
          <Badge tone={tone}>{state}</Badge>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Parts({ health }: { health: HealthResponse }) {
  const { store, nodes, tables } = health;
  const bytes = (count: number | null) => (count === null ? <span class="dim">not known</span> : bytesText(count));
  return (
    <div class="columns">
      <div>
        <Card title="State">
          <HealthList health={health} />
        </Card>
        <Card title="Servers">
          <Nodes nodes={nodes} />
          <p class="dim small below">
            Each server writes about every 20 seconds that it runs, and is forgotten a day after it stopped.
          </p>
        </Card>
      </div>
      <div>
        <Card title="Store">
          <Facts
            facts={{
              Engine: ENGINE_WORDS[store.engine],
              Place: <span class="mono">{visible(store.place)}</span>,
              Size: bytes(store.size_bytes),
              'Free on its disk': bytes(store.free_bytes),
              'Contradictory rows': store.faults ? 'found' : 'none found',
            }}
          />
        </Card>
        <Card title="Names of networks">
          <p>
            {tables.networks
              ? 'The table of networks is loaded: addresses have network numbers and names.'
              : 'No table of networks is loaded: new addresses have no network number. Start the server with --asn-db.'}
          </p>
        </Card>
      </div>
    </div>
  );
}

function Nodes({ nodes }: { nodes: HealthResponse['nodes'] }) {
  return (
    <Table
      caption="Servers"
      rows={nodes}
      keyOf={({ node }) => node}
      empty="No server has written yet that it runs. Check again in some seconds."
      columns={[
        {
          title: 'Server',
          cell: ({ name, current }) => (
            <span class="row tight">
              <span class="cut">{visible(name)}</span>
              {current && <Badge tone="info">answers you</Badge>}
            </span>
          ),
        },
        { title: 'Version', isWide: true, cell: ({ version }) => visible(version) },
        { title: 'Started', isWide: true, cell: ({ started_ts: ts }) => <Ago ts={ts} /> },
        { title: 'Seen', isWide: true, cell: ({ seen_ts: ts }) => <Ago ts={ts} /> },
        {
          title: 'State',
          cell: (node) => (isAway(node) ? <Badge tone="late">away</Badge> : <Badge tone="ok">runs</Badge>),
        },
      ]}
    />
  );
}
