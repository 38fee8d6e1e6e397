import { signal } from './signal.ts';

// The address of the page. Every page can be shared and reloaded.

type Place = { path: string; query: URLSearchParams };

const current = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

export const place = signal<Place>(current());

// Every entry of the history has its scroll position as its state. The browser would restore it before the page is drawn.

type EntryState = { top: number } | null;

/** Safari refuses to change the state more than 100 times in 30 seconds. */
const SCROLLED_MS = 400;

/** Where the page was left, until it is long enough again to be scrolled there. */
let wantedTop: number | null = (history.state as EntryState)?.top ?? null;
let timer: ReturnType<typeof setTimeout> | undefined;

history.scrollRestoration = 'manual';
if (history.state === null) keepTop();

function keepTop(): void {
  clearTimeout(timer);
  if (wantedTop === null) history.replaceState({ top: scrollY }, '');
}

function restoreTop(): void {
  if (wantedTop === null) return;
  scrollTo(0, wantedTop);
  if (Math.abs(scrollY - wantedTop) <= 1) wantedTop = null;
}

new ResizeObserver(restoreTop).observe(document.documentElement);
addEventListener('scroll', () => {
  clearTimeout(timer);
  timer = setTimeout(keepTop, SCROLLED_MS);
});
// Whoever scrolls meanwhile is not scrolled back.
for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const) {
  addEventListener(name, () => {
    wantedTop = null;
  });
}

addEventListener('popstate', ({ state }: PopStateEvent) => {
  clearTimeout(timer);
  clearTimeout(typedTimer);
  typedTarget = null; // its entry was left
  wantedTop = (state as EntryState)?.top ?? null; // null: a link to a part of the page
  place.value = current();
  requestAnimationFrame(restoreTop);
});

/** An address that the history does not have yet. */
let typedTarget: string | null = null;
let typedTimer: ReturnType<typeof setTimeout> | undefined;

/** For each letter of a text that is part of the address: the page follows at once, the history after a pause. */
export function goTyped(target: string): void {
  typedTarget = target;
  clearTimeout(typedTimer);
  typedTimer = setTimeout(keepTyped, SCROLLED_MS);
  const { pathname: path, searchParams: query } = new URL(target, location.href);
  place.value = { path, query };
}

function keepTyped(): void {
  clearTimeout(typedTimer);
  if (typedTarget !== null) history.replaceState(history.state, '', typedTarget);
  typedTarget = null;
}

addEventListener('pagehide', keepTyped);

export function go(target: string, how: 'push' | 'replace' = 'push'): void {
  keepTyped();
  if (target === location.pathname + location.search && how === 'push') {
    place.value = current(); // asks again
    return;
  }
  if (how === 'push') {
    keepTop();
    wantedTop = null;
    history.pushState({ top: 0 }, '', target);
    scrollTo(0, 0);
  } else history.replaceState(history.state, '', target);
  place.value = current();
}

/** Follows links of our own without loading the page again. Other keys and buttons do what the browser does. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const href = link?.getAttribute('href');
  if (!link || !href?.startsWith('/') || link.target || link.hasAttribute('download')) return;
  if (/^\/(assets|openapi\.json|healthz|readyz)/.test(href)) return;
  event.preventDefault();
  go(href);
}

/** `/address/:ip` and `/address/203.0.113.7` give `{ ip: '203.0.113.7' }`; null if they do not match. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return null;
  const values: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const text = given[i] ?? '';
    if (part.startsWith(':')) values[part.slice(1)] = decoded(text);
    else if (part !== text) return null;
  }
  return values;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
