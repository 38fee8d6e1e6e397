// A page that counts as more than one query asks first, unless a control has shown the cost before it led there.

let accepted: string | null = null;

/** For a control that shows the cost of the page to which it leads. */
export function acceptCost(path: string): void {
  accepted = path;
}

/** True once for each acceptance: a page that is opened again asks again. */
export function takeAccepted(path: string): boolean {
  const isAccepted = accepted === path;
  accepted = null;
  return isAccepted;
}
