import { readFileSync } from 'node:fs';

/** Of this program. package.json lies beside `src` and beside `dist`. */
export function programVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
