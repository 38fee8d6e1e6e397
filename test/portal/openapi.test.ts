import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { curlLine, exampleBody } from '../../portal/curl-examples.ts';
import { loginLine } from '../../portal/format.ts';
import {
  type Document,
  descriptionOf,
  groupsOf,
  isFound,
  type Operation,
  operationsOf,
  ownErrors,
  rowsOf,
  type Schema,
  sharedErrors,
  typeText,
} from '../../portal/openapi.ts';
import { openApp } from '../../src/app.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEMO } from './browser.ts';

const run = promisify(execFile);

const DOCUMENT: Document = {
  info: { version: '1' },
  paths: {},
  components: {
    schemas: { Node: { properties: { name: { type: 'string' }, next: { $ref: '#/components/schemas/Node' } } } },
  },
};
const CALLER = { origin: 'http://127.0.0.1:8080', ...DEMO };

const operation = (given: Partial<Operation>): Operation => ({
  method: 'GET',
  path: '/healthz',
  operationId: 'x',
  summary: '',
  security: [{}],
  responses: {},
  ...given,
});

test('types of schemas in words', () => {
  const types: [Schema, string][] = [
    [{ type: ['integer', 'null'] }, 'integer or null'],
    [{ type: 'array', items: { type: 'object' } }, 'list of objects'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'list of "a" or "b"'],
    [{ type: ['string', 'null'], enum: ['online', null] }, '"online" or null'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string or number'],
    [{ const: true }, 'true'],
    [{ $ref: '#/components/schemas/Node' }, 'object'],
    [{}, 'any'],
  ];
  for (const [schema, text] of types) assert.equal(typeText(schema, DOCUMENT), text);
});

test('bounds in words', () => {
  assert.equal(
    descriptionOf({ description: 'Rows.', minimum: 1, maximum: 2_000, default: 500 }),
    'Rows. 1 to 2000, default 500.',
  );
  assert.equal(descriptionOf({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), '');
  assert.equal(descriptionOf({ maxLength: 8_192 }), 'At most 8192 characters.');
  assert.equal(descriptionOf({ minProperties: 1, maxProperties: 1 }), 'Exactly one of the fields.');
});

test('a schema as a list of rows', () => {
  const schema: Schema = {
    properties: {
      id: { type: 'integer' },
      items: {
        type: 'array',
        items: { type: 'object', properties: { ts: { type: 'integer', description: 'When.' } } },
      },
      scores: { type: 'object', patternProperties: { '^.*$': { type: 'number' } } },
    },
    required: ['id'],
  };
  const rows = rowsOf(schema, DOCUMENT).map(({ depth, name, type, isRequired }) => [depth, name, type, isRequired]);
  assert.deepEqual(rows, [
    [0, 'id', 'integer', true],
    [0, 'items', 'list of objects', false],
    [1, 'ts', 'integer', false],
    [0, 'scores', 'object', false],
    [1, '(any name)', 'number', false],
  ]);
  assert.ok(rowsOf({ $ref: '#/components/schemas/Node' }, DOCUMENT).length < 30, 'a schema that contains itself ends');
});

test('an example body has what is required, and one field where one is needed', () => {
  const properties: Record<string, Schema> = { url: { type: 'string' }, now: { type: 'boolean' } };
  assert.deepEqual(exampleBody({ properties, required: ['url'] }, DOCUMENT, {}), { url: 'http://203.0.113.7/bin.sh' });
  assert.deepEqual(exampleBody({ properties }, DOCUMENT, {}), {});
  assert.deepEqual(exampleBody({ properties, minProperties: 1 }, DOCUMENT, {}), { url: 'http://203.0.113.7/bin.sh' });
  assert.deepEqual(exampleBody({ properties }, DOCUMENT, { now: false }), { now: false });
  const nested: Schema = {
    properties: { list: { type: 'array', items: { enum: ['a', 'b'] } }, count: { type: 'integer', minimum: 3 } },
    required: ['list', 'count'],
  };
  assert.deepEqual(exampleBody(nested, DOCUMENT, {}), { list: ['a'], count: 3 });
});

test('curl lines', () => {
  const path = { in: 'path', name: 'ip', required: true, schema: { type: 'string' } };
  const since = { in: 'query', name: 'since', required: false, schema: { type: 'integer' } };
  const mode = { in: 'query', name: 'mode', required: true, schema: { type: 'string', default: "it's" } };
  const lines: [Partial<Operation>, string][] = [
    [{ security: [] }, 'curl http://127.0.0.1:8080/healthz'],
    [
      { path: '/address/{ip}', parameters: [path, since] },
      'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/address/203.0.113.7',
    ],
    [{ parameters: [mode] }, `curl -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8080/healthz?mode=it'\\''s'`],
    [
      {
        method: 'POST',
        requestBody: { content: { 'application/json': { schema: { properties: { ip: {} }, required: ['ip'] } } } },
      },
      `curl -H "Authorization: Bearer $TOKEN" --json '{"ip":"203.0.113.7"}' http://127.0.0.1:8080/healthz`,
    ],
    [
      { method: 'POST', requestBody: { content: { 'application/octet-stream': {} } } },
      `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/octet-stream' --data-binary @FILE http://127.0.0.1:8080/healthz`,
    ],
  ];
  for (const [given, line] of lines) assert.equal(curlLine(operation(given), DOCUMENT, CALLER), line);
});

test('groups, filter and errors', () => {
  const a = operation({ path: '/api/portal/v1/url', method: 'POST', summary: 'Everything about one URL' });
  const b = operation({ responses: { 500: { description: 'Wrong' } } });
  const c = operation({
    responses: { 200: { description: 'Found' }, 404: { description: 'None' }, 500: { description: 'Wrong' } },
  });
  assert.deepEqual(
    groupsOf([b, a]).map(({ title }) => title),
    ['Pages', 'Health'],
  );
  assert.ok(isFound(a, ' post everything '));
  assert.ok(!isFound(a, 'post nothing'));
  const shared = sharedErrors([b, c]);
  assert.deepEqual(shared, [{ status: '500', text: 'Wrong' }]);
  assert.deepEqual(ownErrors(c, shared), [{ status: '404', text: 'None' }]);
});

/** They would end the token or change the password. */
const LEFT_OUT = ['portalLogout', 'portalPassword', 'portalSessionsEnd'];
const isRun = ({ method, path, operationId }: Operation) =>
  !LEFT_OUT.includes(operationId) && (method === 'GET' || !path.startsWith('/api/admin/'));

test('every operation has a group, and every curl line works when pasted', async (t) => {
  needs('curl');
  const settings = {
    ...DEFAULT_SETTINGS,
    dataDir: temporaryFolder(t),
    demo: true,
    port: 0,
    logLevel: 'error',
  } as const;
  const app = await openApp({ ...settings, metricsPort: 'off' });
  t.after(() => app.close());
  const { url: origin } = await app.listen();
  const caller = { origin, ...DEMO };
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as Document;
  const operations = operationsOf(document);
  assert.deepEqual(
    operations.filter((one) => one['x-access'] === undefined || one['x-charge'] === undefined),
    [],
  );
  const health = groupsOf(operations).find(({ title }) => title === 'Health')?.operations ?? [];
  assert.deepEqual(
    health.map(({ path }) => path).sort(),
    ['/healthz', '/openapi.json', '/readyz'],
    'others have a group',
  );
  const lines = operations.filter(isRun).map((one) => curlLine(one, document, caller));
  assert.ok(lines.length > 40, 'the operations were not found');
  const commands = lines.map((line) => `${line} -s -o /dev/null -w '%{http_code}\\n'`);
  const { stdout } = await run('bash', ['-c', [loginLine(caller), ...commands].join('\n')]);
  const responses = stdout
    .trim()
    .split('\n')
    .map((status, i) => `${status} ${lines[i]}`);
  assert.equal(responses.length, lines.length);
  assert.deepEqual(
    responses.filter((response) => !/^(200|404) /.test(response)),
    [],
  );
});
