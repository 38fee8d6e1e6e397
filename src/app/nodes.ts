import { setTimeout as wait } from 'node:timers/promises';
import type { Every } from '../core/every.ts';
import type { NodeStore, ServerNode } from '../health/store.ts';

type NodeOptions = {
  control: Pick<NodeStore, 'seeNode' | 'removeNode'>;
  node: Omit<ServerNode, 'startedTs' | 'seenTs'>;
  now(): number;
  every: Every;
  onFailure(error: unknown): void;
};

/** Administrators see whether a server is away; one that was not seen for a minute has missed three. */
const SEEN_MS = 20_000;

/** A server that was killed is shown as away for a day, then it is forgotten. */
const KEEP_SECONDS = 86_400;

/** A stop does not wait longer for a database that hangs: the row is forgotten after a day. */
const REMOVE_WAIT_MS = 1_000;

/** Writes to the database that this server runs, until it is closed. */
export function announceNode({ control, node, now, every, onFailure }: NodeOptions) {
  const startedTs = now();
  let writing: Promise<void> | null = null;

  /** One at a time: a database that hangs gets no more statements. */
  function write(): Promise<void> {
    writing ??= control
      .seeNode({ ...node, startedTs, seenTs: now() }, now() - KEEP_SECONDS)
      .catch(onFailure)
      .finally(() => {
        writing = null;
      });
    return writing;
  }

  /** After the write in progress, which would add the row again. */
  async function remove(): Promise<void> {
    await writing;
    await control.removeNode(node.node);
  }

  const endWrites = every(SEEN_MS, () => void write());
  return {
    /** The first time. */
    announced: write(),
    async close(): Promise<void> {
      endWrites();
      await Promise.race([remove().catch(onFailure), wait(REMOVE_WAIT_MS, undefined, { ref: false })]);
    },
  };
}
