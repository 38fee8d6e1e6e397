/** A second Ctrl-C after this is a person in a hurry; one alone can arrive twice, from the terminal and from npm. */
const REPEATED_SIGNAL_MS = 1_000;

/** Aborted by Ctrl-C, so that what is under way can be finished. A second one ends the program at once. */
export function stopSignal(): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  let firstMs: number | null = null;
  const stop = () => {
    if (firstMs !== null && Date.now() - firstMs > REPEATED_SIGNAL_MS) process.exit(1);
    firstMs ??= Date.now();
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    signal: controller.signal,
    dispose: () => process.off('SIGINT', stop).off('SIGTERM', stop),
  };
}
