/** Long names allow two typing errors, short ones only one: two errors turn `ad` into any word of four letters. */
const SHORT_NAME_LENGTH = 5;

/** ` Did you mean "urlhaus"?` if a candidate differs from the text by one or two characters, otherwise ``. */
export function suggestion(text: string, candidates: readonly string[]): string {
  const maxDistance = text.length > SHORT_NAME_LENGTH ? 2 : 1;
  const [best] = candidates
    .map((name) => ({ name, distance: editDistance(text, name) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance);
  return best === undefined ? '' : ` Did you mean ${JSON.stringify(best.name)}?`;
}

/** Levenshtein distance: characters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
