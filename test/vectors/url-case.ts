import type { UrlError } from '../../src/core/url/errors.ts';

/** One case of a rule: the expected normalized URL, or the expected error. */
export type UrlCase = { id: string; input: unknown; why: string } & ({ expect: string } | { error: UrlError });
