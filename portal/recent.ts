import { signal } from './signal.ts';
import { readStored, writeStored } from './theme.ts';

// The last lookups of this browser. They never leave it.

type Recent = { kind: string; text: string; path: string; ts: number };

const KEY = 'urlwarden-recent';
const MAX_RECENT = 12;

export const recent = signal<Recent[]>(read());

export function remember(lookup: Recent): void {
  recent.value = [lookup, ...recent.value.filter(({ path }) => path !== lookup.path)].slice(0, MAX_RECENT);
  writeStored(KEY, JSON.stringify(recent.value));
}

export function forgetRecent(): void {
  recent.value = [];
  writeStored(KEY, '[]');
}

function read(): Recent[] {
  try {
    const list: unknown = JSON.parse(readStored(KEY) ?? '[]');
    return Array.isArray(list) ? list.filter(isRecent).slice(0, MAX_RECENT) : [];
  } catch {
    return [];
  }
}

function isRecent(value: unknown): value is Recent {
  const { kind, text, path, ts } = (value ?? {}) as Partial<Recent>;
  return (
    [kind, text, path].every((part) => typeof part === 'string') &&
    typeof ts === 'number' &&
    path?.startsWith('/') === true
  );
}
