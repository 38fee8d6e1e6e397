/** What a statement may be given: arrays go to `unnest($1::bigint[])`. */
export type Scalar = string | number | boolean | null | Uint8Array;
export type Param = Scalar | readonly Scalar[];

/**
 * An array as PostgreSQL writes it. The driver would take the type of an array from its first element; as text the
 * server tells it from the statement.
 */
export function arrayLiteral(values: readonly Scalar[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: Scalar): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
