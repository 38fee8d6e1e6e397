// Several lines that were pasted into the box of the frame, on their way to the page for lists.

let pasted: string | null = null;

export function handOver(text: string): void {
  pasted = text;
}

export const hasPasted = (): boolean => pasted !== null;

/** Once. */
export function takePasted(): string | null {
  const text = pasted;
  pasted = null;
  return text;
}

/** Lines that are not blank. */
export const lineCount = (text: string): number => text.match(/\S.*/g)?.length ?? 0;
