import { explainUrl } from './explain.ts';
import { normalizeUrl } from './normalize.ts';

/** What normalization changed in a URL, in words; empty if nothing, and for a text that is no URL. */
export function normalizationSteps(input: string): string[] {
  const normal = normalizeUrl(input);
  return normal.ok ? explainUrl(input, normal).map(({ text }) => text) : [];
}
