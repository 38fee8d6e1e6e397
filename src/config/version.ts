import { readFileSync } from 'node:fs';

/** package.json is in the parent folder of both `src` and `dist`. */
export function programVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
