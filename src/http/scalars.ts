import { Type } from './schema.ts';

/** The largest integer that every JSON reader keeps exactly (RFC 8259 §6): 2^53-1. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

export const Timestamp = Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description: 'Unix timestamp in seconds.' });
export const UrlId = Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Numeric URL id (URLID).' });

/*
 * A list of types instead of a union: it means the same, but the serializer checks it with `typeof`, where a union
 * would run a validator over every value.
 */
export const StringOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });
export const IntegerOrNull = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 0,
  maximum: MAX_INTEGER,
});
