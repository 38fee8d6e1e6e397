/** Long names allow two typing errors, short ones only one: two errors turn `ad` into any word of four letters. */
const SHORT_NAME_LENGTH = 5;

/** A shorter beginning fits too many names. */
const BEGINNING_MIN_LENGTH = 3;

/**
 * ` Did you mean "urlhaus"?` if a candidate differs from the text by one or two characters, or is the only one that
 * begins with it, otherwise ``.
 */
export function suggestion(text: string, candidates: readonly string[]): string {
  const { length } = text.replace(/^-+/, ''); // the dashes of a flag are rarely mistyped
  const maxDistance = length > SHORT_NAME_LENGTH ? 2 : 1;
  const [best] = candidates
    .map((name) => ({ name, distance: editDistance(text, name) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance);
  const name = best?.name ?? (length < BEGINNING_MIN_LENGTH ? undefined : onlyWithBeginning(text, candidates));
  return name === undefined ? '' : ` Did you mean ${JSON.stringify(name)}?`;
}

function onlyWithBeginning(text: string, candidates: readonly string[]): string | undefined {
  const longer = candidates.filter((name) => name.startsWith(text));
  return longer.length === 1 ? longer[0] : undefined;
}

/** Characters to insert, delete or replace, and neighbours to swap (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : replaced;
      row.push(Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
