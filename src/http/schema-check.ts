import { isObject, type JsonObject } from '../core/json-object.ts';
import type { Properties, Schema } from './schema.ts';

/** Returns what is wrong with a value, as one sentence that names its key, or null. The key of a whole body is empty. */
type Check = (value: unknown, key: string) => string | null;

/**
 * Creates the check of a body, which `JSON.parse` has read. Nothing is converted: `"1"` is no integer. Ajv does the same,
 * but the first request of every thread would wait 60 ms for it to load.
 */
export function createCheck(schema: Schema): Check {
  const checks: Check[] = [];
  for (const [name, keyword] of Object.entries(KEYWORDS)) if (name in schema) checks.push(keyword(schema as Keywords));
  const unknown = Object.keys(schema).find((name) => !Object.hasOwn(KEYWORDS, name) && !ANNOTATIONS.has(name));
  if (unknown !== undefined) throw new Error(`the keyword ${unknown} is not supported in the schema of a body`);
  return (value, key) => firstFault(checks, (check) => check(value, key));
}

/** Keywords of JSON Schema. Those of numbers, for example, say nothing about values of other types. */
type Keywords = {
  type: string | string[];
  enum: unknown[];
  const: unknown;
  minLength: number;
  maxLength: number;
  pattern: string;
  minimum: number;
  maximum: number;
  maxItems: number;
  uniqueItems: true;
  items: Schema;
  minProperties: number;
  maxProperties: number;
  required: string[];
  /** False, or the schema of all values that have none in `properties`. */
  additionalProperties: false | Schema;
  properties: Properties;
};

/** Keywords that say nothing about which values are valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'default', 'examples']);

/** In the order in which faults are reported. */
const KEYWORDS: { [Name in keyof Keywords]: (schema: Keywords) => Check } = {
  type({ type }) {
    const types = [type].flat().map((name) => TYPES[name as keyof typeof TYPES]);
    const names = types.map(([name]) => name).join(' or ');
    return rule((value) => types.some(([, isOfType]) => isOfType(value)), `must be ${names}`);
  },
  enum: ({ enum: values }) => rule((value) => values.includes(value), `must be one of ${values.join(', ')}`),
  const: ({ const: only }) => rule((value) => value === only, `must be ${JSON.stringify(only)}`),
  minLength: ({ minLength: min }) =>
    rule(
      (value) => !isText(value) || lengthOf(value) >= min,
      min === 1 ? 'must not be empty' : `must have at least ${min} characters`,
    ),
  maxLength: ({ maxLength: max }) =>
    rule(
      (value) => !isText(value) || value.length <= max || lengthOf(value) <= max,
      `must have at most ${max} characters`,
    ),
  pattern({ pattern }) {
    const expression = new RegExp(pattern, 'u');
    return rule((value) => !isText(value) || expression.test(value), `must match ${pattern}`);
  },
  minimum: ({ minimum }) => rule((value) => !isNumber(value) || value >= minimum, `must be at least ${minimum}`),
  maximum: ({ maximum }) => rule((value) => !isNumber(value) || value <= maximum, `must be at most ${maximum}`),
  maxItems: ({ maxItems: max }) =>
    rule((value) => !Array.isArray(value) || value.length <= max, `must have at most ${max} items`),
  uniqueItems: () =>
    rule((value) => !Array.isArray(value) || new Set(value).size === value.length, 'must not have an item twice'),
  items({ items }) {
    const check = createCheck(items);
    return (value, key) =>
      Array.isArray(value) ? firstFault(value.entries(), ([i, item]) => check(item, `${key}/${i}`)) : null;
  },
  required: ({ required }) =>
    ofObjects((object, key) => {
      const missing = required.find((name) => !Object.hasOwn(object, name));
      return missing === undefined ? null : `"${within(key, missing)}" is missing`;
    }),
  additionalProperties({ additionalProperties: others, properties = {} }) {
    const check: Check = others === false ? (_, key) => `Unknown key ${JSON.stringify(key)}` : createCheck(others);
    return ofObjects((object, key) =>
      firstFault(Object.keys(object), (name) =>
        Object.hasOwn(properties, name) ? null : check(object[name], within(key, name)),
      ),
    );
  },
  // After the keys: somebody who has sent an unknown key should read which one it is.
  minProperties: (schema) =>
    ofObjects((object, key) => (Object.keys(object).length >= schema.minProperties ? null : wrongCount(schema, key))),
  maxProperties: (schema) =>
    ofObjects((object, key) => (Object.keys(object).length <= schema.maxProperties ? null : wrongCount(schema, key))),
  properties({ properties }) {
    const checks = Object.entries(properties).map(([name, schema]) => [name, createCheck(schema)] as const);
    return ofObjects((object, key) =>
      firstFault(checks, ([name, check]) =>
        Object.hasOwn(object, name) ? check(object[name], within(key, name)) : null,
      ),
    );
  },
};

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Each type of JSON Schema, as a message names it, and whether a value has it. */
const TYPES = {
  string: ['a string', isText],
  integer: ['an integer', Number.isInteger],
  number: ['a number', Number.isFinite], // JSON.parse reads 1e999 as Infinity
  boolean: ['true or false', (value: unknown) => typeof value === 'boolean'],
  null: ['null', (value: unknown) => value === null],
  array: ['an array', Array.isArray],
  object: ['a JSON object', isObject],
} as const satisfies Record<string, readonly [name: string, isOfType: (value: unknown) => boolean]>;

/** `words` follow the name of the key. */
function rule(isFollowed: (value: unknown) => boolean, words: string): Check {
  return (value, key) => (isFollowed(value) ? null : `${key === '' ? 'The body' : `"${key}"`} ${words}`);
}

const ofObjects =
  (check: (object: JsonObject, key: string) => string | null): Check =>
  (value, key) =>
    isObject(value) ? check(value, key) : null;

/** The whole body needs exactly one of its keys. Other objects have only a maximum. */
const wrongCount = ({ maxProperties, properties }: Keywords, key: string): string =>
  key === ''
    ? `Send exactly one of ${Object.keys(properties).join(', ')}`
    : `"${key}" must have at most ${maxProperties} keys`;

/** JSON Schema counts characters, not UTF-16 units. */
const lengthOf = (text: string): number => [...text].length;

const within = (key: string, name: string): string => (key === '' ? name : `${key}/${name}`);

function firstFault<Item>(items: Iterable<Item>, check: (item: Item) => string | null): string | null {
  for (const item of items) {
    const fault = check(item);
    if (fault !== null) return fault;
  }
  return null;
}
