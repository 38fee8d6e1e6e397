export type Replacement = { start: number; end: number; replacement: string };

export function applyMutant(text: string, { start, end, replacement }: Replacement): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
