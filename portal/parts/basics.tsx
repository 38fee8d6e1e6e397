import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, BAD_REQUEST, LIMIT_REACHED, SERVER_AWAY, UNAUTHORIZED } from '../api.ts';
import { agoText, isoText, shortHash, spanText, type Tone, timeText, visible } from '../format.ts';
import { reachedText } from '../limits.ts';
import { type Loaded, toApiError } from '../load.ts';
import { signal } from '../signal.ts';

// Small parts that every page uses.

/** Announced to screen readers, and shown for some seconds. */
export const message = signal<{ text: string; isError: boolean } | null>(null);
let messageTimer: ReturnType<typeof setTimeout> | undefined;
const MESSAGE_MS = 4_000;

export function say(text: string, isError = false): void {
  message.value = { text, isError };
  clearTimeout(messageTimer);
  messageTimer = setTimeout(
    () => {
      message.value = null;
    },
    isError ? 2 * MESSAGE_MS : MESSAGE_MS,
  );
}

/** Makes changes one at a time, for buttons that ask nothing. What a change throws is shown. */
export function useAct() {
  const [isSending, setSending] = useState(false);
  const act = async (change: () => Promise<void>) => {
    if (isSending) return;
    setSending(true);
    await change().catch((error) => say(visible(toApiError(error).message), true));
    setSending(false);
  };
  return { isSending, act };
}

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function StatusBadge({ status }: { status: string | null }) {
  if (status === 'online') return <Badge tone="danger">Online</Badge>;
  return <Badge tone="off">{status === null ? 'No status' : 'Offline'}</Badge>;
}

/** A dot and a word, for tables. */
export function Status({ status }: { status: string | null }) {
  return <span class={`status ${status === 'online' ? 'danger' : 'off'}`}>{status ?? 'no status'}</span>;
}

type CardProps = { title?: string; aside?: ComponentChildren; class?: string; children: ComponentChildren };

export function Card({ title, aside, class: more = '', children }: CardProps) {
  return (
    <section class={`card ${more}`}>
      {(title || aside) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          {aside && <div class="card-aside">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Names and values in two columns. A value of null is left out. */
export function Facts({ facts }: { facts: Record<string, ComponentChildren> }) {
  return (
    <dl class="facts">
      {Object.entries(facts).map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** `12 minutes ago`, with the exact time as a tooltip. */
export function Ago({ ts }: { ts: number | null }) {
  if (ts === null) return <span class="dim">never</span>;
  return (
    <time dateTime={isoText(ts)} title={`${timeText(ts)} UTC`}>
      {agoText(ts)}
    </time>
  );
}

export function Time({ ts }: { ts: number }) {
  return <time dateTime={isoText(ts)}>{timeText(ts)}</time>;
}

/** A browser may refuse it, for example without TLS. */
export const COPY_REFUSED = 'The browser did not allow copying. Select the text and copy it yourself.';

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what}.`);
  } catch {
    say(COPY_REFUSED, true);
  }
}

export function CopyButton({ text, children, what }: { text: string; children: ComponentChildren; what: string }) {
  return (
    <button type="button" class="button" onClick={() => copy(text, what)}>
      {children}
    </button>
  );
}

export function Hash({ hash }: { hash: string }) {
  return (
    <button type="button" class="copy-text mono" title={`${hash}: copy`} onClick={() => copy(hash, 'Hash copied')}>
      {shortHash(hash)}
    </button>
  );
}

/** Stays invisible for a moment: most responses come sooner. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what} …
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

const PROBLEM_TITLES: Record<number, string> = {
  [SERVER_AWAY]: 'The server does not answer',
  [UNAUTHORIZED]: 'Your session was over',
  403: 'Not allowed',
};

/** Why something could not be loaded, and what to do. */
export function Problem({ error, retry, again }: { error: ApiError; retry?: () => void; again?: string }) {
  if (error.status === LIMIT_REACHED) return <LimitReached error={error} retry={retry} again={again ?? 'Ask again'} />;
  const title = PROBLEM_TITLES[error.status] ?? 'That did not work';
  const text = error.status === UNAUTHORIZED ? 'You are logged in again.' : error.message.replace(`${title}. `, '');
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      {text.split('\n').map((line) => (
        <p key={line}>{visible(line)}</p>
      ))}
      {retry && error.status !== BAD_REQUEST && (
        <button type="button" class="button" onClick={retry}>
          {again ?? 'Try again'}
        </button>
      )}
    </div>
  );
}

/** For a `Problem` of the script itself. */
export const LOAD_AGAIN = { retry: () => location.reload(), again: 'Load the page again' };

type LimitReachedProps = { error: ApiError; retry: (() => void) | undefined; again: string };

/** Counts down, then offers to ask again. */
function LimitReached({ error, retry, again }: LimitReachedProps) {
  const endMs = error.madeMs + (error.retryAfterSeconds ?? 0) * 1_000;
  const secondsLeft = () => Math.max(0, Math.ceil((endMs - Date.now()) / 1_000));
  const [left, setLeft] = useState(secondsLeft);
  useEffect(() => {
    setLeft(secondsLeft());
    const timer = setInterval(() => setLeft(secondsLeft()), 1_000);
    return () => clearInterval(timer);
  }, [error]);
  return (
    <div class="problem late" role="alert">
      <strong>Limit reached</strong>
      <p>{visible(reachedText(error.message))}</p>
      <p>{left > 0 ? `Room again in ${spanText(left)}, at ${timeText(endMs / 1_000)} UTC.` : 'There is room again.'}</p>
      {retry && (
        <button type="button" class="button" disabled={left > 0} onClick={retry}>
          {again}
        </button>
      )}
    </div>
  );
}

type LoadProps<T> = { loaded: Loaded<T>; what?: string; children: (data: T) => ComponentChildren };

/** Loading, a problem, or the data. */
export function Show<T>({ loaded, what, children }: LoadProps<T>) {
  if (loaded.state === 'done') {
    return (
      <>
        {loaded.error && (
          <div class="stack">
            <Problem error={loaded.error} retry={loaded.reload} />
            <p class="dim">Below is what was read before.</p>
          </div>
        )}
        {children(loaded.data)}
      </>
    );
  }
  if (loaded.error?.status === UNAUTHORIZED) return null; // it is loaded after the login
  if (loaded.state === 'failed') return <Problem error={loaded.error} retry={loaded.reload} />;
  return <Loading {...(what && { what })} />;
}

/** `9 queries`; nothing for one. */
export function Cost({ queries }: { queries: number }) {
  return queries > 1 ? <span class="cost">{queries} queries</span> : null;
}

/** The control that had the focus is gone. */
export const isFocusFree = (): boolean => document.activeElement === document.body;
