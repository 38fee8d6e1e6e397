import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pendingRequests, tightestLimit } from './api.ts';
import { NO_LIMIT, numberText, spanText, visible } from './format.ts';
import { LIMIT_WORDS, readMonth } from './limits.ts';
import { message } from './parts/basics.tsx';
import { LookupBox } from './parts/box.tsx';
import { Dialog } from './parts/forms.tsx';
import { LogOut } from './parts/login.tsx';
import { followLinks, place } from './router.ts';
import { session } from './session.ts';
import { nextTheme, theme } from './theme.ts';

type FrameProps = { boxText: string; children: ComponentChildren };

/** What every page has around it: the box, the navigation, the tightest limit, the theme, the account. */
export function Frame({ boxText, children }: FrameProps) {
  const [hasHelp, setHelp] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => onShortcut(event, () => setHelp(true));
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: it only follows links, which the keyboard clicks as well
    // biome-ignore lint/a11y/noStaticElementInteractions: the same
    <div class="frame" onClick={followLinks}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class={`progress ${pendingRequests.value > 0 ? 'busy' : ''}`} aria-hidden="true" />
      <Header boxText={boxText} onHelp={() => setHelp(true)} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="footer">
        <a href="/api">API</a>
        {session.value && <span>Urlwarden {session.value.version}</span>}
        <span>All times are UTC</span>
      </footer>
      <div
        class={`toast ${message.value ? 'shown' : ''} ${message.value?.isError ? 'error' : ''}`}
        role="status"
        aria-live="polite"
      >
        {message.value?.text}
      </div>
      {hasHelp && <Shortcuts onClose={() => setHelp(false)} />}
    </div>
  );
}

function Header({ boxText, onHelp }: { boxText: string; onHelp(): void }) {
  const who = session.value;
  return (
    <header class="header">
      <a class="brand" href="/" aria-label="Urlwarden, start page">
        <span class="brand-mark" aria-hidden="true" />
        <span>Urlwarden</span>
      </a>
      {who && place.value.path !== '/' && <LookupBox text={boxText} />}
      <nav aria-label="Pages">
        {who && <NavLink href="/" text="Start" />}
        {who && <NavLink href="/search" text="Search" />}
        {who && <NavLink href="/bulk" text="Bulk" />}
        {who && <NavLink href="/lists" text="Lists" />}
        {who?.admin && <NavLink href="/admin" text="Admin" />}
      </nav>
      <div class="header-end">
        {who && <LimitPill />}
        <button
          type="button"
          class="button quiet"
          aria-label={`Theme: ${theme.value}. Change it`}
          title={`Theme: ${theme.value}`}
          onClick={nextTheme}
        >
          {{ system: '◐', light: '☀', dark: '☾' }[theme.value]}
        </button>
        <button
          type="button"
          class="button quiet wide"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          ?
        </button>
        {who && (
          <>
            <a class="pill account" href="/account" title="Your account">
              {visible(who.username)}
            </a>
            <LogOut kind="quiet wide" />
          </>
        )}
      </div>
    </header>
  );
}

function NavLink({ href, text }: { href: string; text: string }) {
  const { path } = place.value;
  const isHere = href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
  return (
    <a href={href} {...(isHere && { 'aria-current': 'page' as const })}>
      {text}
    </a>
  );
}

/** What is left of the tightest limit, of those longer than a second. Asked for while no response has said it. */
function LimitPill() {
  useEffect(() => {
    if (tightestLimit.value === null) void readMonth();
  }, [session.value, tightestLimit.value === null]);
  const limit = tightestLimit.value;
  if (limit === null) return null;
  const isFree = limit.left > NO_LIMIT / 2;
  return (
    <a
      class={`pill ${isFree ? 'wide' : limit.left === 0 ? 'danger' : ''}`}
      href="/account"
      title={isFree ? 'Your limits' : `Your limits. New room in ${spanText(limit.resetsInSeconds)}`}
    >
      {isFree ? 'No limit' : `${numberText(limit.left)} left ${LIMIT_WORDS[limit.name] ?? ''}`}
    </a>
  );
}

function onShortcut(event: KeyboardEvent, showHelp: () => void): void {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (target?.closest('input, textarea, select, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    const box = document.querySelector<HTMLInputElement>('.box.large input, .box input');
    box?.focus();
    box?.select();
  } else if (event.key === '?') showHelp();
}

const SHORTCUTS: [keys: string, meaning: string][] = [
  ['/', 'go to the box'],
  ['?', 'show this list'],
  ['↑ ↓', 'choose what the text in the box means'],
  ['Enter', 'look it up'],
  ['Esc', 'close a list or a window'],
];

function Shortcuts({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="facts">
        {SHORTCUTS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
