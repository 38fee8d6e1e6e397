const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** `90s`, `5m`, `1h`, `7d` as seconds; null for any other text. */
export function parseSpan(text: string): number | null {
  const match = /^([1-9]\d{0,5})([dhms])$/.exec(text);
  const unit = UNITS.find(([name]) => name === match?.[2]);
  return match === null || unit === undefined ? null : Number(match[1]) * unit[1];
}

/** In the greatest unit of which there are two, or exactly one, rounded down: `5 m`, `90 m`, `1 h`, `26 h`, `2 d`. */
export function spanText(seconds: number): string {
  const [name, size] = UNITS.find(([, unit]) => seconds >= 2 * unit || seconds === unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
}
