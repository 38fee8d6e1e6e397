import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isSessionOver } from '../api.ts';
import { endSession, logIn, logOut, session } from '../session.ts';
import { useAct } from './basics.tsx';
import { Field, Form } from './forms.tsx';

/** Shown in place of any page that needs an account. The address, and so what is looked up, stays as it is. */
export function LogIn() {
  const box = useRef<HTMLElement>(null);
  const known = session.value?.username; // their session is over
  const first = known === undefined ? 'input' : 'input[type=password]';
  useEffect(() => box.current?.querySelector<HTMLInputElement>(first)?.focus(), []);
  const isSafe = window.isSecureContext;
  return (
    <section class="card login" ref={box}>
      <h1>Log in</h1>
      {isSessionOver.value ? (
        <p role="status">Your session is over. Log in again: the page stays as it is.</p>
      ) : (
        <p class="dim">Which URLs distribute malware, since when, from where.</p>
      )}
      {!isSafe && (
        <p class="problem late" role="alert">
          This page came over plain HTTP, and browsers keep the session only over HTTPS. Start the server with{' '}
          <code>--tls-cert</code> and <code>--tls-key</code>, or put a proxy with TLS in front of it.
        </p>
      )}
      <Form submit="Log in" onSubmit={({ username = '', password = '' }) => logIn(username, password)}>
        <Field label="Username" name="username" value={known ?? ''} isRequired autoComplete="username" />
        <Field label="Password" name="password" type="password" isRequired autoComplete="current-password" />
      </Form>
    </section>
  );
}

export function LogOut({ kind = '' }: { kind?: string }) {
  const { isSending, act } = useAct();
  return (
    <button type="button" class={`button ${kind}`} aria-disabled={isSending} onClick={() => act(logOut)}>
      Log out
    </button>
  );
}

/** Over the page, and over a dialog that is open there. It hides both. */
export function LogInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close(); // the focus returns to where it was
  }, []);
  return (
    <dialog
      ref={dialog}
      class="login-again"
      aria-label="Log in"
      onCancel={(event) => event.preventDefault()}
      onClose={() => isSessionOver.value && endSession()}
    >
      <LogIn />
    </dialog>
  );
}
