/**
 * The form under which a malware family is compared: `Mirai`, `mirai` and `MIRAI` are one. Folded here and not by a
 * database, whose collations differ from each other. Not `toLocaleLowerCase`: Turkish would fold `I` to a dotless one.
 */
export function foldFamily(name: string): string {
  return name.toLowerCase();
}
