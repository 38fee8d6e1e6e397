import { createRequire } from 'node:module';
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from 'fastify';

// Every schema is compiled when it is used for the first time, once for all routes and servers that have it. Fastify would
// compile all of them when each thread starts, for every route and status: a fifth of the time until the server listens.

/** Fastify's own compilers, in the versions that it depends on. */
const requireOfFastify = createRequire(import.meta.resolve('fastify'));

/**
 * Of Ajv: a body is validated as it is, and never changed. The schemas are our own, and a test validates them: to do it here
 * as well, Ajv would compile the schema of all schemas, in 45 ms.
 */
const VALIDATION = {
  customOptions: {
    ...{ coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true },
    ...{ validateSchema: false, meta: false },
  },
};

type Validate = ReturnType<FastifySchemaCompiler<object>>;
type Serialize = ReturnType<FastifySerializerCompiler<object>>;

const validators = once(() => requireOfFastify('@fastify/ajv-compiler')()({}, VALIDATION));
const serializers = once(() => requireOfFastify('@fastify/fast-json-stringify-compiler')()({}));

const validatorCompiler: FastifySchemaCompiler<object> = forEachSchema((schema) => {
  const compiled = once<Validate>(() => validators()({ schema }));
  return (body) => compiled()(body) || { error: compiled().errors ?? [] };
});

const serializerCompiler: FastifySerializerCompiler<object> = forEachSchema((schema) => {
  const compiled = once<Serialize>(() => serializers()({ schema }));
  return (value) => compiled()(value);
});

/** As an option of the server: without it Fastify loads its own compilers at the start. Its types know only those. */
export const schemaController = {
  compilersFactory: { buildValidator: () => validatorCompiler, buildSerializer: () => serializerCompiler },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;

function forEachSchema<Compiled>(create: (schema: object) => Compiled): (route: { schema: object }) => Compiled {
  const created = new WeakMap<object, Compiled>();
  return ({ schema }) => {
    const known = created.get(schema) ?? create(schema);
    created.set(schema, known);
    return known;
  };
}

function once<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}
