import type { UrlError } from '../../src/core/url/errors.ts';

/** One case of a rule: the normalized URL that is expected, or the error. */
export type UrlCase = { id: string; input: unknown; why: string } & ({ expect: string } | { error: UrlError });
