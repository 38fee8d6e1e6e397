import { createRequire } from 'node:module';
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify';
import { badRequest } from '../core/errors.ts';
import { lazy } from '../core/lazy.ts';
import type { Schema } from './schema.ts';
import { createCheck } from './schema-check.ts';

/** The error of a refused body names the key. A check is created for the first body, not at the start of each thread. */
const validatorCompiler: FastifySchemaCompiler<Schema> = ({ schema }) => {
  const check = lazy(() => createCheck(schema));
  return (body) => {
    const fault = check()(body, '');
    return fault === null || { error: badRequest(fault) };
  };
};

type Serialize = ReturnType<FastifySerializerCompiler<object>>;

/** Fastify's own compiler, in the version that it depends on. */
const loadSerializers = lazy<FastifySerializerCompiler<object>>(() =>
  createRequire(import.meta.resolve('fastify'))('@fastify/fast-json-stringify-compiler')()({}),
);
const serializers = new WeakMap<object, Serialize>();

/**
 * The schema of a response is compiled when it is used for the first time, once for all routes and servers that have it.
 * Fastify would compile all of them when each thread starts, for every route and status.
 */
const serializerCompiler: FastifySerializerCompiler<object> = (route) => {
  const known = serializers.get(route.schema);
  if (known !== undefined) return known;
  const compiled = lazy<Serialize>(() => loadSerializers()(route));
  const serialize: Serialize = (value) => compiled()(value);
  serializers.set(route.schema, serialize);
  return serialize;
};

/** As an option of the server: without it Fastify loads its own compilers at the start. Its types know only those. */
export const schemaController = {
  compilersFactory: { buildValidator: () => validatorCompiler, buildSerializer: () => serializerCompiler },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
