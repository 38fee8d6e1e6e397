import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, BAD_REQUEST } from '../api.ts';
import type { FormTexts } from '../formats.ts';
import { toApiError } from '../load.ts';
import { Problem } from './basics.tsx';

type FieldProps = {
  label: string;
  name: string;
  type?: 'text' | 'password' | 'date';
  value?: string;
  hint?: string;
  isRequired?: boolean;
  autoComplete?: string;
  /** An access key of another service. Browsers must not offer to keep it, as they do with a password. */
  isSecret?: boolean;
  /** A name for screen readers that says more than the label. */
  about?: string | undefined;
};

export function Field({
  label,
  name,
  type = 'text',
  value = '',
  hint,
  isRequired = false,
  autoComplete = 'off',
  isSecret = false,
  about,
}: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type={type as 'text'}
        class={isSecret ? 'hidden-text' : ''}
        aria-label={about}
        name={name}
        defaultValue={value}
        required={isRequired}
        autoComplete={autoComplete}
        spellcheck={false}
      />
      {hint && <small>{hint}</small>}
    </label>
  );
}

type SelectProps = {
  label: string;
  name: string;
  value?: string;
  options: readonly { value: string; text: string }[];
  /** For a form whose other fields depend on the choice. */
  onChoice?(value: string): void;
};

export function Select({ label, name, value, options, onChoice }: SelectProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select name={name} defaultValue={value} onChange={(event) => onChoice?.(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Check({ label, name, isChecked = false }: { label: string; name: string; isChecked?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={isChecked} />
      <span>{label}</span>
    </label>
  );
}

export type { FormTexts };

type FormProps = {
  submit: string;
  onSubmit(texts: FormTexts): Promise<void>;
  children: ComponentChildren;
  isDangerous?: boolean;
};

/** Shows what went wrong below the fields, and keeps what was typed. */
export function Form({ submit, onSubmit, children, isDangerous = false }: FormProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // On a phone it may be below what is seen.
  useEffect(() => form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' }), [error]);
  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    const sent = event.currentTarget as HTMLFormElement;
    const texts = [...new FormData(sent)].filter(([, value]) => value !== '');
    setBusy(true);
    setError(null);
    try {
      await onSubmit(Object.fromEntries(texts) as FormTexts);
    } catch (thrown) {
      setError(inWordsOf(sent, toApiError(thrown)));
    } finally {
      setBusy(false);
    }
  }
  return (
    <form ref={form} class="form" onSubmit={send}>
      {children}
      {error && <Problem error={error} />}
      <button type="submit" class={`button ${isDangerous ? 'danger' : 'primary'}`} aria-disabled={isBusy}>
        {isBusy ? `${submit} …` : submit}
      </button>
    </form>
  );
}

/** `"cidr" must …`, `"families/3": …`, `botname: …` */
const KEY = /"([a-z_]+)(?:\/[^"]*)?"|^([a-z_]+)(?=: )/g;

/** The server names a value by its key in the API. Fields have the same names, and the label is what people see. */
function inWordsOf(form: HTMLFormElement, error: ApiError): ApiError {
  if (error.status !== BAD_REQUEST) return error;
  const text = error.message.replaceAll(KEY, (found, quoted?: string, bare?: string) => {
    const label = labelOf(form.elements.namedItem(quoted ?? bare ?? ''));
    return label === null ? found : quoted === undefined ? label : `“${label}”`;
  });
  return new ApiError(error.status, text);
}

function labelOf(field: Element | RadioNodeList | null): string | null {
  if (!(field instanceof Element)) return null;
  return (field.querySelector('legend') ?? field.closest('label')?.querySelector('span'))?.textContent ?? null;
}

/** A dialog of the browser: Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="dialog" aria-label={title} onClose={onClose}>
      <header class="card-head">
        <h2>{title}</h2>
        <button type="button" class="button quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
