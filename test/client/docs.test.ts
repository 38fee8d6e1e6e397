import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDemo } from '../example-runs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A program and the output below it. */
const EXAMPLE = /```ts\n([^`]+)```\n\n```text\n([^`]+)```/g;

test('the examples in docs/client.md produce the output shown', async (t) => {
  const document = readFileSync(`${ROOT}/docs/client.md`, 'utf8');
  const examples = [...document.matchAll(EXAMPLE)];
  assert.equal(examples.length, document.match(/```ts\n/g)?.length, 'every program has an output');
  assert.ok(examples.length >= 4);
  const { url } = await startDemo(t);
  const folder = temporaryFolder(t);
  for (const [index, [, program = '', output]] of examples.entries()) {
    const source = program
      .replaceAll('urlwarden/client', `${ROOT}/src/client/index.ts`)
      .replaceAll('http://127.0.0.1:8080', url);
    const file = join(folder, `${index}.mts`);
    writeFileSync(file, source);
    await t.test(`example ${index + 1}`, async () => {
      assert.equal((await run(process.execPath, [file])).stdout, output);
    });
  }
});
