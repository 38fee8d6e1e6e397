/** One Ctrl-C can arrive twice, from the terminal and from npm. A signal later than this is a second Ctrl-C. */
const REPEATED_SIGNAL_MS = 1_000;

/** Ctrl-C aborts the signal, so that running work can finish. A second Ctrl-C exits immediately. */
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
