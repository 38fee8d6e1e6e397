import type { StixFile, StixObjects, StixObserved } from './stix-objects.ts';

export type StixRelations = {
  /** Ids of related objects in both directions, directly or through shared observed data. */
  relatedTo(id: string): string[];
  filesOf(id: string): StixFile[];
  /** Benign indicators are about the object, directly or through observed data, and no other indicator is. */
  isBenign(id: string): boolean;
  /** First and last observation and its creator. Without observed data: the time of the first relationship. */
  seen(id: string): { firstTs: number | null; lastTs: number | null; creator: string };
};

/** Related objects visited per object. Without a bound, a hub with n neighbours would cost n² steps. */
const MAX_RELATED = 100;

export function createStixRelations(objects: StixObjects): StixRelations {
  const files = new Map(objects.files.map((file) => [file.id, file]));
  const urlIds = new Set(objects.urls.map(({ id }) => id));
  const observedById = new Map(objects.observed.map((data) => [data.id, data]));
  const observedOf = new Map<string, StixObserved[]>();
  for (const data of objects.observed) for (const ref of data.refs) push(observedOf, ref, data);
  const neighbours = new Map<string, string[]>();
  const relationTs = new Map<string, number>();
  for (const { from, to, ts } of objects.relations) {
    push(neighbours, from, to);
    push(neighbours, to, from);
    for (const id of ts === null ? [] : [from, to])
      relationTs.set(id, Math.min(ts ?? 0, relationTs.get(id) ?? Infinity));
  }

  /** With several URLs and several files in one observation, the file of each URL is ambiguous. */
  const unambiguous = new Set(
    objects.observed.filter(({ refs }) => {
      const urls = refs.filter((ref) => urlIds.has(ref)).length;
      return urls <= 1 || refs.filter((ref) => files.has(ref)).length <= 1;
    }),
  );

  function* visit(id: string): Generator<string> {
    const direct = neighbours.get(id) ?? [];
    yield* direct;
    const groups = [...direct.slice(0, MAX_RELATED).map((other) => observedById.get(other)), ...firstObserved(id)];
    for (const data of groups) {
      if (data === undefined || !unambiguous.has(data)) continue;
      yield* neighbours.get(data.id) ?? [];
      yield* data.refs;
    }
  }

  function relatedTo(id: string): string[] {
    const related = new Set<string>();
    let visited = 0;
    for (const other of visit(id)) {
      if (other !== id) related.add(other);
      visited += 1;
      if (visited === MAX_RELATED) break;
    }
    return [...related];
  }

  /** The indicators themselves and what they are about. Without a bound: each relationship and reference is one step. */
  function subjectsOf(indicators: Set<string>): Set<string> {
    const direct = new Set(indicators);
    for (const id of indicators) for (const other of neighbours.get(id) ?? []) direct.add(other);
    const observed = objects.observed.flatMap(({ id, refs }) => (direct.has(id) ? refs : []));
    return new Set([...direct, ...observed]);
  }
  const ofBenign = subjectsOf(objects.indicators.benign);
  const ofOther = subjectsOf(objects.indicators.other);

  function firstObserved(id: string): StixObserved[] {
    return (observedOf.get(id) ?? []).slice(0, MAX_RELATED);
  }

  return {
    relatedTo,
    filesOf: (id) => relatedTo(id).flatMap((other) => files.get(other) ?? []),
    isBenign: (id) => ofBenign.has(id) && !ofOther.has(id),
    seen(id) {
      const data = firstObserved(id);
      const firsts = data.flatMap(({ firstTs }) => firstTs ?? []);
      const lasts = data.flatMap(({ lastTs }) => lastTs ?? []);
      return {
        firstTs: firsts.length > 0 ? Math.min(...firsts) : (relationTs.get(id) ?? null),
        lastTs: lasts.length > 0 ? Math.max(...lasts) : null,
        creator: data.find(({ creator }) => creator !== '')?.creator ?? '',
      };
    },
  };
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
