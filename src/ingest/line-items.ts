import type { ObservationInput } from '../core/observation.ts';
import { beginning, type InputLimits, type Item, reject, type Source } from './format.ts';
import { faultOf, type Line, readLines, withoutReturn } from './lines.ts';

/** For formats in which each line stands for itself. `read` gives null for nothing, or the reason why not. */
export async function* readLineItems(
  source: Source,
  limits: InputLimits,
  read: (text: string) => ObservationInput | string | null,
): AsyncGenerator<Item[]> {
  let number = 0;
  for await (const lines of readLines(source.bytes(), limits.maxLineBytes)) {
    const items: Item[] = [];
    for (const line of lines) {
      number += 1;
      const item = toItem(line, number);
      if (item !== null) items.push(item);
    }
    if (items.length > 0) yield items;
  }

  function toItem(line: Line, number: number): Item | null {
    const fault = faultOf(line);
    if (fault !== null) return reject(number, line.text, fault);
    const text = withoutReturn(line.text);
    if (text.trim() === '') return null;
    const input = read(text);
    if (input === null) return null;
    if (typeof input === 'string') return reject(number, text, input);
    return { kind: 'observations', line: number, text: beginning(text), inputs: [input] };
  }
}
