import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../format.ts';
import { toApiError } from '../load.ts';
import { COPY_REFUSED, say } from './basics.tsx';
import { Dialog, Form, type FormTexts } from './forms.tsx';

type AskProps = {
  /** Of the button. */
  text: string;
  /** Of the dialog, if it is another one. */
  title?: string;
  submit: string;
  /** What the change means, and its fields. */
  children: ComponentChildren;
  /** What it throws is shown in the dialog. A text that it returns is a secret, which is shown once. */
  act(texts: FormTexts): Promise<unknown>;
  /** Called when it has worked and the dialog is closed. */
  onDone(): void;
  isDangerous?: boolean;
  isPrimary?: boolean;
  /** For the names of buttons in the rows of a table, which differ only in their row. */
  about?: string;
};

/** Without a field the focus stays on Close: Enter pressed twice changes nothing. */
const FIRST_FIELD = 'dialog[open] form :is(input, select):not([hidden])';

/** A button that asks in a dialog before it changes something. */
export function Ask({ text, title = text, submit, children, act, onDone, about, ...kind }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  /** Since it was opened. */
  const isDone = useRef(false);
  /** Null while it is closed: whoever closes it does not wait for the response. */
  const opening = useRef<symbol | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOpen) document.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
  }, [isOpen]);
  useLayoutEffect(
    () => () => {
      opening.current = null;
      leaveFocus(button.current);
    },
    [],
  );
  const tone = kind.isDangerous ? 'danger' : kind.isPrimary ? 'primary' : '';
  const open = () => {
    opening.current = Symbol();
    setOpen(true);
  };
  const close = () => {
    opening.current = null;
    setOpen(false);
    setSecret(null);
    if (isDone.current) onDone();
    isDone.current = false;
  };
  const send = async (texts: FormTexts) => {
    const asked = opening.current;
    const result = await act(texts).catch((error: unknown) => {
      if (opening.current !== asked) say(visible(toApiError(error).message), true);
      throw error;
    });
    if (typeof result === 'string') {
      isDone.current = true;
      setSecret(result);
      open(); // it may be closed, and the secret is shown only now
    } else if (opening.current === asked) {
      isDone.current = true;
      closeDialog();
    } else onDone();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button ${tone}`}
        onClick={open}
        {...(about !== undefined && { 'aria-label': `${text}: ${visible(about)}` })}
      >
        {text}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          {secret === null ? (
            <Form submit={submit} onSubmit={send} isDangerous={kind.isDangerous ?? false}>
              {children}
            </Form>
          ) : (
            <Secret text={secret} />
          )}
        </Dialog>
      )}
    </>
  );
}

/** A button that goes with its row leaves the focus to the table, or to the page if the table goes too. */
function leaveFocus(button: HTMLElement | null): void {
  if (button === null || button !== document.activeElement) return;
  const table = button.closest<HTMLElement>('.table');
  const hasOthers = table !== null && table.querySelectorAll('tbody tr').length > 1;
  (hasOthers ? table : document.getElementById('main'))?.focus({ preventScroll: true });
}

/** Closed by the browser, so that the focus returns to the button. */
function closeDialog(): void {
  document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
}

/** The message of the frame is behind the dialog: what happened is said here. */
function Secret({ text }: { text: string }) {
  const [said, setSaid] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied.'),
      () => setSaid(COPY_REFUSED),
    );
  return (
    <div class="stack">
      <p>The password is shown only now. Give it to its owner in a safe way: whoever has it can log in.</p>
      <pre class="secret">{text}</pre>
      <div class="row">
        <button type="button" class="button primary" onClick={copy}>
          Copy the password
        </button>
        <button type="button" class="button" onClick={closeDialog}>
          Done
        </button>
        <span role="status">{said}</span>
      </div>
    </div>
  );
}
