import type { Database } from '../../database/postgres/database.ts';
import { NODE_COLUMNS, type NodeRow, toNode, toNodeRow } from '../node-rows.ts';
import { NODES_MAX, type NodeStore } from '../store.ts';

const SEE = `
  insert into nodes (${NODE_COLUMNS}) values ($1, $2, $3, $4, $5)
  on conflict (node) do update set name = excluded.name, version = excluded.version, seen_ts = excluded.seen_ts`;

/** Skips rows that another node is about to forget: two nodes never wait for each other. */
const FORGET = 'delete from nodes where node in (select node from nodes where seen_ts < $1 for update skip locked)';

const NODES = `select ${NODE_COLUMNS} from nodes order by name, started_ts, node limit ${NODES_MAX}`;

/** The running servers, in the database that they share. */
export function createNodeStore(db: Database): NodeStore {
  return {
    async seeNode(node, keepSinceTs) {
      await db.run(SEE, toNodeRow(node));
      await db.run(FORGET, [keepSinceTs]);
    },
    async removeNode(node) {
      await db.run('delete from nodes where node = $1', [node]);
    },
    nodes: async () => (await db.query<NodeRow>(NODES)).map(toNode),
  };
}
