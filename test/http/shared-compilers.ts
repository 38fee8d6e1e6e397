import { createRequire } from 'node:module';

// Fastify compiles the schemas of all routes for each server, which takes two thirds of the time to build one, and the
// tests build hundreds. Here all servers of a process share Fastify's own compilers, and what these have compiled.

type Compile = (route: { schema: object }) => unknown;
type Factory = () => (externals: object, options?: object) => Compile;

const require = createRequire(import.meta.resolve('fastify'));
share('@fastify/ajv-compiler');
share('@fastify/fast-json-stringify-compiler');

/** Replaces the module that Fastify requires when a server is created. No server has schemas outside its routes. */
function share(name: string): void {
  const path = require.resolve(name);
  const build = (require(path) as Factory)();
  let compile: Compile | undefined;
  const compiled = new WeakMap<object, unknown>();
  const shared: Factory = () => (externals, options) => {
    compile ??= build(externals, options);
    return (route) => {
      const result = compiled.get(route.schema) ?? compile?.(route);
      compiled.set(route.schema, result);
      return result;
    };
  };
  const module = require.cache[path];
  if (module !== undefined) module.exports = shared;
}
