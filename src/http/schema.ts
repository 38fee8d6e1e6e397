// JSON schemas, as Fastify and OpenAPI use them, with the TypeScript type of the values that they describe.

/** Keywords of JSON Schema. */
type Keywords = { description?: string; [keyword: string]: unknown };

/** `~value` exists only for the compiler. `~optional` is not enumerable, so that it is no keyword of the schema. */
export type Schema<Value = unknown> = Keywords & { '~value'?: Value; '~optional'?: true };
type OptionalSchema<Value> = Schema<Value> & { '~optional': true };
export type Properties = Record<string, Schema>;

export type Static<S extends Schema> = S extends Schema<infer Value> ? Value : never;

type OptionalNames<P extends Properties> = { [K in keyof P]: P[K] extends { '~optional': true } ? K : never }[keyof P];
type ValueOf<P extends Properties> = Flat<
  { [K in Exclude<keyof P, OptionalNames<P>>]: Static<P[K]> } & { [K in OptionalNames<P>]?: Static<P[K]> }
>;
/** The same type, as editors and error messages show it best. */
type Flat<T> = { [K in keyof T]: T[K] };

export type ObjectSchema<P extends Properties> = Schema<ValueOf<P>> & { properties: P };

const simple =
  <Value>(type: string) =>
  (options: Keywords = {}): Schema<Value> => ({ type, ...options });

/** Functions that make schemas. */
export const Type = {
  String: simple<string>('string'),
  Integer: simple<number>('integer'),
  Number: simple<number>('number'),
  Boolean: simple<boolean>('boolean'),

  /** Properties are required unless they are `Optional`. */
  Object<P extends Properties>(properties: P, options: Keywords = {}): ObjectSchema<P> {
    const required = Object.keys(properties).filter((name) => properties[name]?.['~optional'] === undefined);
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** An object without other properties. */
  Closed: <P extends Properties>(properties: P, options: Keywords = {}): ObjectSchema<P> =>
    Type.Object(properties, { additionalProperties: false, ...options }),
  Optional: <Value>(schema: Schema<Value>): OptionalSchema<Value> =>
    Object.defineProperty({ ...schema }, '~optional', { value: true }) as OptionalSchema<Value>,
  Array: <Value>(items: Schema<Value>, options: Keywords = {}): Schema<Value[]> => ({
    type: 'array',
    items,
    ...options,
  }),
  /** An object with any names. */
  Record: <Value>(values: Schema<Value>, options: Keywords = {}): Schema<Record<string, Value>> => ({
    type: 'object',
    additionalProperties: values,
    ...options,
  }),
  Enum: <const Value extends string>(values: readonly Value[], options: Keywords = {}): Schema<Value> => ({
    enum: values,
    ...options,
  }),
  Literal: <const Value extends string | number | boolean>(value: Value): Schema<Value> => ({
    type: typeof value,
    const: value,
  }),
  Union: <S extends Schema[]>(anyOf: readonly [...S]): Schema<Static<S[number]>> => ({ anyOf }),
  /** A schema in its own words. */
  Unsafe: <Value>(schema: Keywords): Schema<Value> => schema as Schema<Value>,
};
