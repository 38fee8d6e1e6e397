// The OpenAPI document of the server as lists that people can read.

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
};

type Content = Record<string, { schema?: Schema }>;
export type Parameter = { in: string; name: string; required: boolean; description?: string; schema: Schema };
type DescribedOperation = {
  operationId: string;
  summary: string;
  security: object[];
  'x-access'?: string | { dataset: string };
  'x-charge'?: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};

export type Document = {
  info: { version: string };
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
};

export type Operation = DescribedOperation & { method: string; path: string };

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

const GROUPS: [title: string, prefixes: string[]][] = [
  ['Log in and limits', ['/api/v1/login', '/api/intel/v1/limits']],
  ['URLs', ['/api/intel/v2/byobject/url/']],
  ['Addresses', ['/api/intel/v1/byobject/cidr/']],
  ['Domains', ['/api/intel/v2/byobject/domain/', '/api/intel/v2/domains/', '/api/intel/v2/context']],
  ['Lists for devices', ['/api/lists/']],
  ['Changes', ['/api/changes/']],
  ['Pages', ['/api/portal/']],
  ['Administration', ['/api/admin/']],
  ['Health', ['/']],
];

type Group = { title: string; operations: Operation[] };

/** In the order of the document; a group without operations is left out. */
export function groupsOf(operations: readonly Operation[]): Group[] {
  const titleOf = ({ path }: Operation) =>
    GROUPS.find(([, prefixes]) => prefixes.some((prefix) => path.startsWith(prefix)))?.[0];
  return GROUPS.map(([title]) => ({
    title,
    operations: operations.filter((operation) => titleOf(operation) === title),
  })).filter((group) => group.operations.length > 0);
}

/** Every word of the filter is in the method, path, summary, or name of a parameter or of a field of the body. */
export function isFound(operation: Operation, filter: string): boolean {
  const { method, path, operationId, summary, parameters = [] } = operation;
  const names = [...parameters.map(({ name }) => name), ...Object.keys(bodyOf(operation)?.schema?.properties ?? {})];
  const text = [method, path, operationId, summary, ...names].join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function accessText({ 'x-access': access, security }: Operation): string {
  if (security.length === 0) return 'Everyone';
  if (access === 'administrator') return 'Administrators';
  return typeof access === 'object' ? `Accounts with the dataset ${access.dataset}` : 'Every account';
}

const CHARGE_TEXTS: Record<string, string> = {
  query: 'Counts as a query',
  queries: 'Counts as one or more queries',
  call: 'Not a query, but limited per second',
  none: 'Not counted',
};

export function chargeText({ 'x-charge': charge = '' }: Operation): string | null {
  return CHARGE_TEXTS[charge] ?? null;
}

export type Typed = { contentType: string; schema: Schema | null };

const firstOf = (content: Content | undefined): Typed | null => {
  const [entry] = Object.entries(content ?? {});
  return entry ? { contentType: entry[0], schema: entry[1].schema ?? null } : null;
};

export const bodyOf = ({ requestBody }: Operation): Typed | null => firstOf(requestBody?.content);
export const responseOf = ({ responses }: Operation): Typed | null => firstOf(responses[200]?.content);

export type StatusText = { status: string; text: string };

function errorsOf({ responses }: Operation): StatusText[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 300)
    .map(([status, { description }]) => ({ status, text: description }));
}

/** Errors of all operations: shown once. */
export function sharedErrors(operations: readonly Operation[]): StatusText[] {
  const [first, ...others] = operations;
  if (first === undefined) return [];
  return errorsOf(first).filter(({ status }) => others.every(({ responses }) => status in responses));
}

export function ownErrors(operation: Operation, shared: readonly StatusText[]): StatusText[] {
  return errorsOf(operation).filter(({ status }) => !shared.some((one) => one.status === status));
}

/** A line of the list of a schema. `depth` 0: a field of the object itself. */
export type SchemaRow = { depth: number; name: string; type: string; isRequired: boolean; description: string };

/** No schema of ours is as deep: a schema that contains itself ends. */
const MAX_DEPTH = 8;

/** The fields below a schema, each before its own fields. */
export function rowsOf(schema: Schema, document: Document, depth = 0): SchemaRow[] {
  if (depth > MAX_DEPTH) return [];
  return fieldsOf(schema, document).flatMap(({ name, field, isRequired }) => {
    const shown = resolved(field, document);
    const row = { depth, name, type: typeText(shown, document), isRequired, description: descriptionOf(shown) };
    return [row, ...rowsOf(shown, document, depth + 1)];
  });
}

type Field = { name: string; field: Schema; isRequired: boolean };

function fieldsOf(given: Schema, document: Document): Field[] {
  const schema = resolved(given, document);
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema;
  if (schema.items) return fieldsOf(schema.items, document);
  if (schema.anyOf) return schema.anyOf.flatMap((one) => fieldsOf(one, document));
  const others = Object.values(patternProperties);
  if (typeof additionalProperties === 'object') others.push(additionalProperties);
  return [
    ...Object.entries(properties).map(([name, field]) => ({ name, field, isRequired: required.includes(name) })),
    ...others.map((field) => ({ name: '(any name)', field, isRequired: false })),
  ];
}

const REFERENCE = '#/components/schemas/';

/** The schema that a reference names. */
export function resolved(schema: Schema, { components }: Document): Schema {
  if (!schema.$ref?.startsWith(REFERENCE)) return schema;
  return components.schemas[schema.$ref.slice(REFERENCE.length)] ?? {};
}

/** `integer or null`, `list of objects`, `"live" or "history"` */
export function typeText(given: Schema, document: Document): string {
  const schema = resolved(given, document);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return joined(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf) return joined([...new Set(schema.anyOf.map((one) => typeText(one, document)))]);
  const types = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
  return joined(types.map((type) => (type === 'array' ? listText(schema.items ?? {}, document) : type)));
}

function listText(items: Schema, document: Document): string {
  const text = typeText(items, document);
  return /^[a-z]+$/.test(text) && text !== 'any' ? `list of ${text}s` : `list of ${text}`;
}

const joined = (texts: readonly string[]): string => texts.join(' or ');

/** Numbers above it only say that the number is safe in JSON. */
const NO_MAXIMUM = 2_147_483_647;

/** The description, and the bounds in words. */
export function descriptionOf(schema: Schema): string {
  const { description, minimum, maximum = NO_MAXIMUM, maxLength, maxItems, default: fallback } = schema;
  const bounds = [
    maximum < NO_MAXIMUM ? `${minimum ?? 0} to ${maximum}` : minimum ? `${minimum} or more` : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems}`,
    schema.minProperties === 1 && schema.maxProperties === 1 ? 'exactly one of the fields' : '',
    fallback === undefined ? '' : `default ${String(fallback)}`,
  ].filter((text) => text !== '');
  const sentence = bounds.join(', ').replace(/^./, (letter) => letter.toUpperCase());
  return [description, sentence && `${sentence}.`].filter(Boolean).join(' ');
}
