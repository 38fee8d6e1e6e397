/** A running server, as the others see it. */
export type ServerNode = {
  /** A random text per process. */
  node: string;
  /** Machine and port: `host1:8080`. */
  name: string;
  version: string;
  startedTs: number;
  seenTs: number;
};

/** The servers that use this database. */
export type NodeStore = {
  /** Writes that the node runs, and forgets nodes that were last seen before `keepSinceTs`. */
  seeNode(node: ServerNode, keepSinceTs: number): Promise<void>;
  removeNode(node: string): Promise<void>;
  /** By name, then by start. */
  nodes(): Promise<ServerNode[]>;
};

/** More than any installation has; a node that restarts again and again leaves a row for a day if it cannot remove it. */
export const NODES_MAX = 500;
