import { useEffect, useRef, useState } from 'preact/hooks';
import { acceptCost } from '../cost.ts';
import { counted, visible } from '../format.ts';
import { handOver, lineCount } from '../pasted.ts';
import { type Answer, KIND_NAMES, listAnswer, readQuery, refusalText } from '../query.ts';
import { go } from '../router.ts';
import { Cost, say } from './basics.tsx';

const HINT = 'URL, address, network, host, AS number, SHA-256 or family';

/** The box that takes any lookup. It shows what it recognized, and the other pages that the text could mean. */
export function LookupBox({ isLarge = false, text = '' }: { isLarge?: boolean; text?: string }) {
  const [typed, setTyped] = useState(text);
  const [pasted, setPasted] = useState<string | null>(null);
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    // Whoever has just logged in can type at once. On a phone a keyboard would hide the page.
    if (isLarge && matchMedia('(pointer: fine)').matches) input.current?.focus({ preventScroll: true });
  }, []);
  const answers = pasted === null ? readQuery(typed) : [listAnswer(typed, pasted)];
  const isShown = isOpen && typed.trim() !== '';
  const id = isLarge ? 'large-box' : 'box';

  function follow(answer: Answer | undefined): void {
    if (answer === undefined) {
      say(typed.trim() === '' ? `Type a ${HINT}.` : refusalText(typed), true);
      return;
    }
    setOpen(false);
    input.current?.blur();
    acceptCost(answer.path); // the list has shown it
    if (answer.lines !== undefined) {
      handOver(answer.lines);
      type('');
    }
    go(answer.path);
  }

  function type(text: string, lines: string | null = null): void {
    setTyped(text);
    setPasted(lines);
    setChosen(0);
    setOpen(true);
  }

  /** The field has one line, and would join them. */
  function onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData('text') ?? '';
    const lines = lineCount(text);
    if (lines < 2) return;
    event.preventDefault();
    type(counted(lines, 'line'), text);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && answers.length > 0) {
      event.preventDefault();
      setOpen(true);
      setChosen((chosen + step + answers.length) % answers.length);
    } else if (event.key === 'Escape') {
      setOpen(false);
    }
  }

  return (
    <search class={`box ${isLarge ? 'large' : ''}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          follow(answers[chosen] ?? answers[0]);
        }}
      >
        <input
          ref={input}
          id={id}
          type="text"
          class="mono"
          aria-label={`Look up a ${HINT}`}
          placeholder={HINT}
          value={typed}
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          role="combobox"
          aria-expanded={isShown && answers.length > 0}
          aria-controls={`${id}-answers`}
          aria-autocomplete="list"
          {...(isShown && answers.length > 0 && { 'aria-activedescendant': `${id}-${chosen}` })}
          onInput={(event) => type(event.currentTarget.value)}
          onPaste={onPaste}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        {!isLarge && (
          <span class="box-key key" aria-hidden="true">
            /
          </span>
        )}
        {isLarge && (
          <button type="submit" class="button primary">
            Look up
          </button>
        )}
        <div
          id={`${id}-answers`}
          class="answers"
          role="listbox"
          aria-label="What it could mean"
          hidden={!isShown || answers.length === 0}
        >
          {answers.map((answer, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
            <div
              key={answer.path}
              id={`${id}-${i}`}
              class="answer"
              role="option"
              tabIndex={-1}
              aria-selected={i === chosen}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => follow(answer)}
            >
              <span class="answer-kind">{KIND_NAMES[answer.kind]}</span>
              <span class="mono">{visible(answer.text)}</span>
              <Cost queries={answer.cost} />
            </div>
          ))}
        </div>
      </form>
    </search>
  );
}
