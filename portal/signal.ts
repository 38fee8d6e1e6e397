// State outside of components. The pages have about ten such values, so a change simply draws the page again.

type Signal<T> = { value: T };

let draw = (): void => {};
let isDue = false;

/** What draws the page. */
export function drawWith(drawPage: () => void): void {
  draw = drawPage;
}

/** Changes of the same moment draw once. */
export function signal<T>(initial: T): Signal<T> {
  let current = initial;
  return {
    get value() {
      return current;
    },
    set value(next) {
      if (Object.is(next, current)) return;
      current = next;
      if (isDue) return;
      isDue = true;
      queueMicrotask(() => {
        isDue = false;
        draw();
      });
    },
  };
}
