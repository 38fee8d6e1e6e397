import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { visible } from '../format.ts';
import { Dialog, Form, type FormTexts } from './forms.tsx';

type AskProps = {
  /** The text of the button. */
  text: string;
  title: string;
  submit: string;
  /** What the change means, and its fields. */
  children: ComponentChildren;
  /** What it throws is shown in the dialog. A text that it returns is a secret, which is shown once. */
  act(texts: FormTexts): Promise<string | undefined>;
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
export function Ask({ text, title, submit, children, act, onDone, about, ...kind }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (isOpen) document.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
  }, [isOpen]);
  const tone = kind.isDangerous ? 'danger' : kind.isPrimary ? 'primary' : '';
  const close = () => {
    setOpen(false);
    setSecret(null);
    setDone(false);
    if (isDone) onDone();
  };
  const send = async (texts: FormTexts) => {
    const answer = await act(texts);
    setDone(true);
    if (answer === undefined) closeDialog();
    else setSecret(answer);
  };
  return (
    <>
      <button
        type="button"
        class={`button ${tone}`}
        onClick={() => setOpen(true)}
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

/** Closed by the browser, so that the focus returns to the button. */
export function closeDialog(): void {
  document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
}

/** The message of the frame is behind the dialog: what happened is said here. */
function Secret({ text }: { text: string }) {
  const [said, setSaid] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied.'),
      () => setSaid('The browser did not allow to copy. Select the text and copy it yourself.'),
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
