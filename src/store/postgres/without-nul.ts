/** Messages may quote what came from outside, and PostgreSQL keeps no NUL in a text. */
export function withoutNul<Text extends string | null>(text: Text): Text {
  return (text?.replaceAll('\0', '\ufffd') ?? null) as Text;
}
