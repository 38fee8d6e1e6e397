/** The CPU time of this thread so far. What runs beside a test does not change it. */
export function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
