import { signal } from './signal.ts';

// The address of the page. Every page can be shared and reloaded.

export type Place = { path: string; query: URLSearchParams };

const current = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

export const place = signal<Place>(current());

addEventListener('popstate', () => {
  place.value = current();
});

export function go(target: string, how: 'push' | 'replace' = 'push'): void {
  if (target === location.pathname + location.search && how === 'push') {
    place.value = current(); // asks again
    return;
  }
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', target);
  place.value = current();
  if (how === 'push') scrollTo(0, 0);
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
