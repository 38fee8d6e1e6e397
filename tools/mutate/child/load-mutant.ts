import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { applyMutant } from '../apply-mutant.ts';

/** Loaded by --import into every process and thread of a test run: the one changed file is changed in memory only. */
const { path, ...mutant } = JSON.parse(process.env.URLWARDEN_MUTANT ?? '{}');

if (path !== undefined) {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith('file:') || fileURLToPath(url) !== path) return nextLoad(url, context);
      const source = applyMutant(readFileSync(path, 'utf8'), mutant);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
