import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { paths } from '../../src/core/paths.ts';
import { FORMATS } from '../../src/exports/formats/formats.ts';
import { build, ROUTES } from './build.ts';

type Operation = {
  operationId: string;
  security: object[];
  parameters?: { in: string; name: string; required: boolean }[];
  requestBody?: object;
  responses: Record<string, { content: Record<string, object> }>;
};
type Described = {
  type?: unknown;
  description?: string;
  properties?: Record<string, Described>;
  anyOf?: Described[];
};
type Document = { openapi: string; paths: Record<string, Record<string, Operation>> };

const requireOfFastify = createRequire(import.meta.resolve('fastify'));

const templateOf = (path: string) => path.replace(/:(\w+)/g, '{$1}');

describe('openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async (t) => {
    const { app } = await build(t);
    const response = await app.inject('/openapi.json');
    assert.equal(response.statusCode, 200);
    const document: Document = response.json();
    assert.equal(document.openapi, '3.1.0');
    const result = await new Validator().validate(document);
    assert.ok(result.valid, JSON.stringify(result.errors));
  });

  test('has bodies with valid schemas', () => {
    const compile = requireOfFastify('@fastify/ajv-compiler')()({}, { customOptions: { allowUnionTypes: true } });
    assert.throws(() => compile({ schema: { type: 'string', minLength: 'x' } }), /schema is invalid/);
    const bodies = ROUTES.map(({ endpoint }) => endpoint.body).filter((schema) => typeof schema === 'object');
    assert.ok(bodies.length > 10, `${bodies.length}`);
    for (const schema of bodies) compile({ schema });
  });

  test('has every route and nothing else', async (t) => {
    const { app } = await build(t);
    const document: Document = (await app.inject('/openapi.json')).json();
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = ROUTES.map(({ endpoint }) => `${endpoint.method} ${templateOf(endpoint.path)}`);
    assert.deepEqual(described.sort(), served.sort());
    assert.deepEqual(Object.keys(document.paths).sort(), Object.values(paths).map(templateOf).sort());
  });

  test('says that a URL may have no status', async (t) => {
    const { app } = await build(t);
    const document: Document = (await app.inject('/openapi.json')).json();
    const responseOf = (path: string, type: string) =>
      document.paths[path]?.post?.responses['200']?.content[type] as { schema: Described };
    const last = responseOf(paths.urlLast, 'application/json').schema;
    const [found] = responseOf(paths.urlBulk, 'application/x-ndjson').schema.anyOf ?? [];
    for (const schema of [last, found]) {
      assert.deepEqual(schema?.properties?.status?.type, ['object', 'null']);
      assert.match(schema?.properties?.status?.description ?? '', /^Null if only/);
    }
  });

  test('has every content type of lists and changes', async (t) => {
    const { app } = await build(t);
    const document: Document = (await app.inject('/openapi.json')).json();
    const typesOf = (path: string) =>
      Object.keys(document.paths[templateOf(path)]?.get?.responses['200']?.content ?? {}).sort();
    const ofFormats = [...new Set(FORMATS.map(({ contentType }) => contentType))].sort();
    assert.ok(ofFormats.length > 1);
    assert.deepEqual(typesOf(paths.list), ofFormats);
    assert.deepEqual(typesOf(paths.listByKey), ofFormats);
    assert.deepEqual(typesOf(paths.changes), ['application/x-ndjson', 'text/event-stream']);
  });

  test('describes access, parameters, body and responses of each route', async (t) => {
    const { app } = await build(t);
    const document: Document = (await app.inject('/openapi.json')).json();
    for (const { access, endpoint } of ROUTES) {
      const operation = document.paths[templateOf(endpoint.path)]?.[endpoint.method.toLowerCase()];
      assert.ok(operation);
      assert.deepEqual(operation.security, access === 'open' ? [] : [{ token: [] }, { session: [] }]);
      assert.equal('401' in operation.responses, access !== 'open' || /login$/.test(endpoint.path));
      assert.equal('413' in operation.responses, endpoint.method === 'POST');
      assert.equal(operation.requestBody !== undefined, endpoint.method === 'POST');
      const inPath = operation.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? [];
      assert.deepEqual(
        inPath,
        [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name),
      );
      assert.ok(operation.responses['200']?.content[endpoint.response.contentType]);
    }
  });
});
