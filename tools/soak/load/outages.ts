/** Spans of time in which this program itself has made PostgreSQL unavailable. Only then may the server respond with 503. */
export type Outages = {
  begin(): void;
  /** The server gets some more time to recover. */
  end(): void;
  /** Whether a span includes a moment between these two. In milliseconds since 1970. */
  includes(fromMs: number, toMs: number): boolean;
};

/**
 * After PostgreSQL accepts connections again: a second until the driver tries again, five for statements that still wait,
 * five for the accounts. Half as much again, for a busy machine.
 */
export const RECOVERY_MS = 16_000;

export function createOutages(): Outages {
  const spans: { fromMs: number; toMs: number }[] = [];
  return {
    begin() {
      spans.push({ fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY });
    },
    end() {
      const last = spans.at(-1);
      if (last !== undefined) last.toMs = Date.now() + RECOVERY_MS;
    },
    includes: (fromMs, toMs) => spans.some((span) => toMs >= span.fromMs && fromMs <= span.toMs),
  };
}
