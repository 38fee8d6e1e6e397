import type { Session } from './database.ts';

/**
 * Ids of rows that transactions of this process are going to add, by text. A row is written near the end of its
 * transaction, but its id is needed before. Transactions that run at the same time use the same id for the same text, so it
 * does not matter which one adds the row. Others may add it with another id: each transaction checks that.
 */
type ReservedIds = {
  /** For one transaction. */
  open(): Reservation;
};

export type Reservation = {
  /** The id of a text that this or another running transaction has reserved. */
  find(text: string): number | undefined;
  reserve(text: string, id: number): void;
  /**
   * Before the rows are added: waits for the end of transactions that have called this earlier and have reserved some of the same
   * texts. Returns those texts, whose rows are there now if these transactions were completed.
   */
  afterSame(): Promise<string[]>;
  /** When the transaction has ended, in any way. */
  close(): void;
};

/** `users`: running transactions that may have looked for rows before this one had ended. */
type Layer = {
  ids: Map<string, number>;
  isOpen: boolean;
  users: Set<Layer>;
  isAdding: boolean;
  ended: PromiseWithResolvers<void>;
};

export function createReservedIds(): ReservedIds {
  const layers = new Set<Layer>();

  function find(text: string): number | undefined {
    for (const { ids } of layers) {
      const id = ids.get(text);
      if (id !== undefined) return id;
    }
    return undefined;
  }

  async function afterSame(layer: Layer): Promise<string[]> {
    const earlier = [...layers].filter(({ isAdding }) => isAdding);
    layer.isAdding = true;
    const same = [...layer.ids.keys()].filter((text) => earlier.some(({ ids }) => ids.has(text)));
    const ofSame = earlier.filter(({ ids }) => same.some((text) => ids.has(text)));
    await Promise.all(ofSame.map(({ ended }) => ended.promise));
    return same;
  }

  function close(layer: Layer): void {
    layer.isOpen = false;
    layer.ended.resolve();
    for (const other of layers) {
      other.users.delete(layer);
      if (!other.isOpen && other.users.size === 0) layers.delete(other);
    }
  }

  return {
    open() {
      const open = [...layers].filter(({ isOpen }) => isOpen);
      const ended = Promise.withResolvers<void>();
      const layer: Layer = { ids: new Map(), isOpen: true, users: new Set(open), isAdding: false, ended };
      for (const other of open) other.users.add(layer);
      layers.add(layer);
      return {
        find,
        reserve: (text, id) => void layer.ids.set(text, id),
        afterSame: () => afterSame(layer),
        close: () => close(layer),
      };
    },
  };
}

// Not one range: other sessions take numbers at the same time.
const NEXT = (table: string, param: string) =>
  `array_to_string(array(select nextval('${table}_id_seq') from generate_series(1, ${param}::integer)), ',')`;
const NEXT_IDS = `select ${NEXT('urls', '$1')}, ${NEXT('hosts', '$2')}, ${NEXT('domains', '$3')}`;

/** How many rows of each table a transaction is going to add. */
type Counts = { urls: number; hosts: number; domains: number };

/** Takes ids from the sequences. They are not given again, also if the transaction is aborted. */
export async function nextIds(
  session: Session,
  { urls, hosts, domains }: Counts,
): Promise<Record<keyof Counts, number[]>> {
  if (urls + hosts + domains === 0) return { urls: [], hosts: [], domains: [] };
  const [row] = await session.query<[string, string, string]>(NEXT_IDS, [urls, hosts, domains]);
  const [urlIds = [], hostIds = [], domainIds = []] = (row ?? []).map((list) =>
    list === '' ? [] : list.split(',').map(Number),
  );
  return { urls: urlIds, hosts: hostIds, domains: domainIds };
}
