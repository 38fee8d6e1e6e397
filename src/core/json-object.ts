export type JsonObject = Record<string, unknown>;

/** Whether a value of `JSON.parse` is an object, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
