import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { NODE_COLUMNS, type NodeRow, toNode, toNodeRow } from '../node-rows.ts';
import { NODES_MAX, type NodeStore, type ServerNode } from '../store.ts';

const NODES = `select ${NODE_COLUMNS} from nodes order by name, started_ts, node limit ${NODES_MAX}`;

/** The running servers, in `control.db`. */
export function createNodeStore({ db, write }: DatabaseFile<NodeWrites>): NodeStore {
  const nodes = db.prepare<NodeRow>(NODES);
  return {
    seeNode: (node, keepSinceTs) => write('seeNode', node, keepSinceTs),
    removeNode: (node) => write('removeNode', node),
    nodes: async () => nodes.all().map(toNode),
  };
}

const SEE = `insert or replace into nodes (${NODE_COLUMNS}) values (?, ?, ?, ?, ?)`;

const FORGET = 'delete from nodes where seen_ts < ?';

type NodeWrites = ReturnType<typeof createNodeWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createNodeWrites(db: Database) {
  const see = db.prepare(SEE);
  const forget = db.prepare(FORGET);
  const remove = db.prepare('delete from nodes where node = ?');

  return {
    seeNode(node: ServerNode, keepSinceTs: number): void {
      db.transaction(() => {
        see.run(...toNodeRow(node));
        forget.run(keepSinceTs);
      });
    },
    removeNode(node: string): void {
      db.transaction(() => remove.run(node));
    },
  };
}
