import { signal } from './signal.ts';

type Theme = 'system' | 'light' | 'dark';

const KEY = 'urlwarden-theme';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

const isTheme = (text: string | null): text is Theme => text !== null && text in NEXT;
const stored = readStored(KEY);

export const theme = signal<Theme>(isTheme(stored) ? stored : 'system');

document.documentElement.dataset.theme = theme.value;

export function nextTheme(): void {
  theme.value = NEXT[theme.value];
  document.documentElement.dataset.theme = theme.value;
  writeStored(KEY, theme.value);
}

/** A browser may refuse its storage. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeStored(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Only remembered until the page is closed.
  }
}
