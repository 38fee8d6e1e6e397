import { foldFamily } from '../../core/family.ts';

/** Each once, in the first spelling. */
export function distinctFamilies(names: (string | null)[]): string[] {
  const known = new Map<string, string>();
  for (const name of names) {
    if (name !== null && !known.has(foldFamily(name))) known.set(foldFamily(name), name);
  }
  return [...known.values()];
}

/** Several are none: nobody says which of them a file belongs to. */
export function onlyFamily(names: (string | null)[]): string | null {
  const families = distinctFamilies(names);
  return families.length === 1 ? (families[0] ?? null) : null;
}
