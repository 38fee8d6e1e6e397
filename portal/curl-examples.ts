import { type Caller, shellQuoted } from './format.ts';
import { bodyOf, type Document, type Operation, type Parameter, resolved, type Schema } from './openapi.ts';

// Operations as commands that people can paste. Examples are values of the demo data, chosen by name.

const EXAMPLES: Record<string, unknown> = {
  url: 'http://203.0.113.7/bin.sh',
  ip: '203.0.113.7',
  cidr: '203.0.113.7',
  mask: 24,
  id: 7,
  domain: 'example.com',
  dataset: 'XBL',
  realm: 'intel',
  username: 'ada@example.com',
  password: '…',
  current: '…',
  new: '… …',
  name: 'gold',
  qms: 4_000,
  qmh: 5_000,
  reason: 'seen by us',
};

/** Where the name alone says too little, by operation: in the path, the query and the body. */
const OPERATION_EXAMPLES: Record<string, Record<string, unknown>> = {
  portalDomain: { name: 'example.com' },
  portalSessionsEnd: { others: true },
  adminAccountUsage: { username: 'customer@example.com' },
  adminChangeAccount: { enabled: true },
  adminFeedAdd: { known: 'urlhaus' },
  adminFeedSet: { name: 'urlhaus', paused: false },
  adminFeedRun: { name: 'urlhaus' },
  adminFeedRemove: { name: 'urlhaus' },
  portalListExplain: { name: 'hosts-malware', text: 'shop.example' },
  portalListKeyAdd: { list: 'urls-online', device: 'firewall' },
  adminListAdd: { name: 'own-hosts', kind: 'hosts' },
  adminListSet: { name: 'own-hosts', status: 'any' },
  adminListRemove: { name: 'own-hosts' },
  adminExclusionAdd: { value: 'shop.example', subdomains: true },
  adminListKeyAdd: { list: 'urls-online', device: 'firewall', username: 'customer@example.com' },
  adminImportUpload: { format: 'urlhaus-csv', source: 'upload' },
};

function exampleOf(name: string, schema: Schema, document: Document): unknown {
  const { type, const: constant, enum: words, default: fallback, minimum, items, anyOf } = resolved(schema, document);
  if (constant !== undefined) return constant;
  if (words) return words.includes(EXAMPLES[name]) ? EXAMPLES[name] : words.find((word) => word !== '');
  if (anyOf?.[0]) return exampleOf(name, anyOf[0], document);
  const [first] = [type ?? 'string'].flat();
  if (first === 'object') return exampleBody(schema, document, {});
  if (first === 'array') return items ? [exampleOf(name, items, document)] : [];
  if (name in EXAMPLES) return EXAMPLES[name];
  if (first === 'boolean') return true;
  if (first === 'integer' || first === 'number') return fallback ?? minimum ?? 1;
  return fallback ?? name;
}

/** The required fields, one field if any but none is not enough, and those of `values`. */
export function exampleBody(given: Schema, document: Document, values: Record<string, unknown>): unknown {
  const schema = resolved(given, document);
  if (schema.anyOf?.[0]) return exampleBody(schema.anyOf[0], document, values);
  const { properties = {}, required = [], minProperties = 0 } = schema;
  const names = Object.keys(properties).filter((name) => required.includes(name) || name in values);
  if (names.length === 0 && minProperties > 0) names.push(...Object.keys(properties).slice(0, 1));
  return Object.fromEntries(
    names.map((name) => [name, values[name] ?? exampleOf(name, properties[name] ?? {}, document)]),
  );
}

/** A command that works when pasted, with the token in $TOKEN. */
export function curlLine(operation: Operation, document: Document, caller: Caller): string {
  const { method, path, operationId, security, parameters = [] } = operation;
  const isLogin = security.length === 0 && method === 'POST';
  const { username, password } = caller;
  const values: Record<string, unknown> = {
    ...OPERATION_EXAMPLES[operationId],
    ...(isLogin && { username, password }),
  };
  const textOf = ({ name, schema }: Parameter): string =>
    encodeURIComponent(String(values[name] ?? exampleOf(name, schema, document))).replaceAll('%40', '@');
  const ofPath = parameters.filter((parameter) => parameter.in === 'path');
  const ofQuery = parameters.filter((one) => one.in === 'query' && (one.required || one.name in values));
  const target = ofPath.reduce((text, parameter) => text.replace(`{${parameter.name}}`, textOf(parameter)), path);
  const query = ofQuery.map((parameter) => `${parameter.name}=${textOf(parameter)}`).join('&');
  const url = caller.origin + target + (query && `?${query}`);
  return [
    'curl',
    ...(security.length > 0 ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    // The login of the pages accepts only requests of its own pages.
    ...(isLogin && path.startsWith('/api/portal/') ? [`-H ${shellQuoted(`Origin: ${caller.origin}`)}`] : []),
    ...bodyArguments(operation, document, values),
    /[^\w:/.@-]/.test(url) ? shellQuoted(url) : url,
  ].join(' ');
}

function bodyArguments(operation: Operation, document: Document, values: Record<string, unknown>): string[] {
  const body = bodyOf(operation);
  if (body === null) return operation.method === 'POST' ? ["--json '{}'"] : [];
  if (body.contentType !== 'application/json')
    return [`-H ${shellQuoted(`Content-Type: ${body.contentType}`)} --data-binary @FILE`];
  return [`--json ${shellQuoted(JSON.stringify(exampleBody(body.schema ?? {}, document, values)))}`];
}
