/** Unix seconds by the clock of this machine. */
export function currentTs(): number {
  return Math.floor(Date.now() / 1000);
}
