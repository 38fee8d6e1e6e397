import { useEffect, useRef, useState } from 'preact/hooks';
import type { InputKind } from '../bulk-read.ts';
import { type Bulk, bulk, forgetBulk, readInput } from '../bulk-run.ts';
import { bytesText, visible } from '../format.ts';
import { takePasted } from '../pasted.ts';
import { Card, isFocusFree } from './basics.tsx';

/** A text field with more makes the browser slow: such a text is taken like a file. */
const MAX_FIELD_LENGTH = 200_000;
/** Typing pauses for so long before the text is read. */
const PAUSE_MS = 250;
const PASTED = 'Pasted text';

/** Of the field, also after the page was left. Nobody sees the text of another account. */
let typed = { owner: '', text: '' };

export function clearField(): void {
  typed = { owner: '', text: '' };
}

type InputProps = { current: Bulk | null; owner: string };

/** A field for text, and files by choice or by drop. */
export function BulkInput({ current, owner }: InputProps) {
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const read = (blob: Blob, name: string) => void readInput(blob, name, owner, null);

  function onText(text: string, waitMs: number): void {
    typed = { owner, text };
    clearTimeout(timer.current);
    timer.current = setTimeout(() => (text.trim() === '' ? forgetBulk() : read(new Blob([text]), '')), waitMs);
  }

  /** False for a text that fits into the field. */
  function takeLong(text: string): boolean {
    if (text.length <= MAX_FIELD_LENGTH) return false;
    clearTimeout(timer.current);
    read(new Blob([text]), PASTED);
    return true;
  }

  function takeFiles(files: FileList | null | undefined): void {
    const [first, ...others] = files ?? [];
    if (first === undefined) return;
    clearTimeout(timer.current);
    const name = others.length === 0 ? first.name : `${first.name} and ${others.length} more`;
    read(others.length === 0 ? first : new Blob([first, ...others].flatMap((file) => [file, '\n'])), name);
  }

  function over(event: DragEvent, is: boolean): void {
    if (!event.dataTransfer?.types.includes('Files')) return; // text goes into the field
    event.preventDefault(); // otherwise the browser opens the file
    setOver(is);
  }

  useEffect(() => {
    const pasted = takePasted();
    if (pasted === null) {
      // A file was removed: the field has its text again.
      if (bulk.value?.owner !== owner && typed.owner === owner && typed.text.trim() !== '') onText(typed.text, 0);
      return;
    }
    if (takeLong(pasted)) return;
    if (field.current !== null) field.current.value = pasted;
    onText(pasted, 0);
  });

  // Whoever opens the page, or has removed a list, can paste at once. On a phone a keyboard would hide the page.
  useEffect(() => {
    if (isFocusFree() && matchMedia('(pointer: fine)').matches) field.current?.focus({ preventScroll: true });
  }, []);

  const isFile = current !== null && current.name !== '';
  return (
    <Card>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button below does the same for the keyboard */}
      <div
        class={`stack bulk-input ${isOver ? 'over' : ''}`}
        onDragOver={(event) => over(event, true)}
        onDragLeave={(event) => over(event, false)}
        onDrop={(event) => {
          over(event, false);
          takeFiles(event.dataTransfer?.files);
        }}
      >
        {isFile ? (
          <p class="page-head">
            <span>
              <strong>{visible(current.name)}</strong> <span class="dim">{bytesText(current.blob.size)}</span>
            </span>
            <button type="button" class="button" onClick={forgetBulk}>
              Remove
            </button>
          </p>
        ) : (
          <label class="field">
            <span>A list, or any text with URLs</span>
            <textarea
              ref={field}
              class="mono"
              rows={8}
              defaultValue={typed.owner === owner ? typed.text : ''}
              placeholder={'http://203.0.113.7/bin.sh\nhxxps://files[.]example[.]com/a.exe'}
              spellcheck={false}
              autoComplete="off"
              autoCapitalize="off"
              onInput={(event) => onText(event.currentTarget.value, PAUSE_MS)}
              onPaste={(event) => {
                if (takeLong(event.clipboardData?.getData('text') ?? '')) event.preventDefault();
              }}
            />
          </label>
        )}
        <div class="row">
          <label class="button">
            {isFile ? 'Choose another file' : 'Choose a file'}
            <input
              type="file"
              class="unseen"
              multiple
              onChange={(event) => {
                takeFiles(event.currentTarget.files);
                event.currentTarget.value = ''; // the same file can be chosen again
              }}
            />
          </label>
          <span class="dim">or drop it here: text, CSV, log or mail. Nothing is sent before you say so.</span>
        </div>
      </div>
    </Card>
  );
}

const KINDS: [InputKind, text: string, title: string][] = [
  ['list', 'List', 'Every line is a URL, to its last character'],
  ['csv', 'Table', 'URLs in the cells of a CSV file'],
  ['text', 'Text', 'URLs anywhere in a text, a log or a mail; punctuation after them is cut'],
];

/** How it was read, and the other ways. */
export function Kinds({ current: { kind, blob, name }, owner }: { current: Bulk; owner: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is seen
    <span class="row tight" role="group" aria-label="Read as">
      <span class="dim">Read as</span>
      {KINDS.map(([value, text, title]) => (
        <button
          key={value}
          type="button"
          class="button"
          title={title}
          aria-pressed={kind === value}
          onClick={() => void readInput(blob, name, owner, value)}
        >
          {text}
        </button>
      ))}
    </span>
  );
}
