/**
 * The first second at which `holds` is false. It holds at `fromTs` and not at `toTs`, and does not hold again once it does
 * not.
 */
export function firstSecondNot(holds: (ts: number) => boolean, fromTs: number, toTs: number): number {
  let [yes, no] = [fromTs, toTs];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return no;
}
