import type { ServerNode } from './store.ts';

export const NODE_COLUMNS = 'node, name, version, started_ts, seen_ts';

export type NodeRow = [node: string, name: string, version: string, startedTs: number, seenTs: number];

export function toNode([node, name, version, startedTs, seenTs]: NodeRow): ServerNode {
  return { node, name, version, startedTs, seenTs };
}

export function toNodeRow({ node, name, version, startedTs, seenTs }: ServerNode): NodeRow {
  return [node, name, version, startedTs, seenTs];
}
