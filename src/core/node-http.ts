/**
 * The module `node:http`. An `import` of it would read all its exports, one of which loads the implementation of `fetch`:
 * 5 % of the time in which the server starts.
 */
export const http = process.getBuiltinModule('node:http');
