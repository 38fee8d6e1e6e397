import { useEffect, useRef, useState } from 'preact/hooks';
import { acceptCost } from '../cost.ts';
import { counted, visible } from '../format.ts';
import { handOver, lineCount } from '../pasted.ts';
import { KIND_NAMES, listSuggestion, readQuery, refusalText, type Suggestion } from '../query.ts';
import { go } from '../router.ts';
import { Cost, say } from './basics.tsx';

const HINT = 'URL, address, network, host, AS number, SHA-256 or family';
/** The box in the header has no room for more. */
const SHORT_HINT = 'URL, address, host, file …';

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
  const suggestions = pasted === null ? readQuery(typed) : [listSuggestion(typed, pasted)];
  const isShown = isOpen && typed.trim() !== '';
  const id = isLarge ? 'large-box' : 'box';

  function follow(suggestion: Suggestion | undefined): void {
    if (suggestion === undefined) {
      say(typed.trim() === '' ? `Type a ${HINT}.` : refusalText(typed), true);
      return;
    }
    setOpen(false);
    input.current?.blur();
    acceptCost(suggestion.path); // the list has shown it
    if (suggestion.lines !== undefined) {
      handOver(suggestion.lines);
      type('');
    }
    go(suggestion.path);
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
    if (step !== undefined && suggestions.length > 0) {
      event.preventDefault();
      setOpen(true);
      setChosen((chosen + step + suggestions.length) % suggestions.length);
    } else if (event.key === 'Escape') {
      setOpen(false);
      setChosen(0); // Enter follows what is seen
    }
  }

  return (
    <search class={`box ${isLarge ? 'large' : ''}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          follow(suggestions[chosen] ?? suggestions[0]);
        }}
      >
        <input
          ref={input}
          id={id}
          type="text"
          class="mono"
          aria-label={`Look up a ${HINT}`}
          placeholder={isLarge ? HINT : SHORT_HINT}
          value={typed}
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          role="combobox"
          aria-expanded={isShown && suggestions.length > 0}
          aria-controls={`${id}-suggestions`}
          aria-autocomplete="list"
          {...(isShown && suggestions.length > 0 && { 'aria-activedescendant': `${id}-${chosen}` })}
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
          id={`${id}-suggestions`}
          class="suggestions"
          role="listbox"
          aria-label="What it could mean"
          hidden={!isShown || suggestions.length === 0}
        >
          {suggestions.map((suggestion, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
            <div
              key={suggestion.path}
              id={`${id}-${i}`}
              class="suggestion"
              role="option"
              tabIndex={-1}
              aria-selected={i === chosen}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => follow(suggestion)}
            >
              <span class="suggestion-kind">{KIND_NAMES[suggestion.kind]}</span>
              <span class="mono">{visible(suggestion.text)}</span>
              <Cost queries={suggestion.cost} />
            </div>
          ))}
        </div>
      </form>
    </search>
  );
}
