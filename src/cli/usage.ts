/** Width of every help text, unless the terminal is narrower. */
const COLUMNS = Math.max(40, Math.min(100, process.stdout.columns || 100));
/** A longer name gets a line to itself, with its meaning below. */
const NAME_MAX_COLUMNS = 26;

/** A flag of a command. One without an argument is a switch. `values` are those that shells complete. */
export type Flag = { argument?: string; meaning: string; isRequired?: true; values?: readonly string[] };

/** By the name of the flag, without the dashes. `--help` lists them in this order. */
export type Flags = Readonly<Record<string, Flag>>;

export type Usage = {
  /** The part after `urlwarden`, without the flags that may be omitted. */
  synopsis: string;
  /** Paragraphs with an empty line between them; those with indented lines are lists, which are not wrapped. */
  about: string;
  flags: Flags;
  /** Command lines that work as shown. */
  examples?: readonly string[];
};

export function usageText({ synopsis, about, flags, examples = [] }: Usage): string {
  const names = Object.entries(flags).map(
    ([flag, { argument, meaning }]) => [`--${flag}${argument === undefined ? '' : ` ${argument}`}`, meaning] as const,
  );
  const exampleLines = examples.map((example) => `  ${example}\n`).join('');
  return [
    `Usage: urlwarden ${synopsis}${names.length > 0 ? ' [FLAGS]' : ''}\n`,
    `${about.split('\n\n').map(paragraph).join('\n\n')}\n`,
    ...(names.length > 0 ? [`Flags:\n${definitions(names)}`] : []),
    ...(examples.length > 0 ? [`${examples.length > 1 ? 'Examples' : 'Example'}:\n${exampleLines}`] : []),
  ].join('\n');
}

function paragraph(text: string): string {
  return /^ /m.test(text) ? text.trimEnd() : wrap(text.replaceAll('\n', ' '), COLUMNS).join('\n');
}

/** Names on the left and their meanings on the right, wrapped. A line break in a meaning is kept. */
export function definitions(pairs: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length).filter((length) => length <= NAME_MAX_COLUMNS));
  const indent = ' '.repeat(width + 5);
  return pairs
    .map(([name, meaning]) => {
      const text = meaning.split('\n').flatMap((line) => wrap(line, COLUMNS - indent.length));
      const body = `${text.join(`\n${indent}`)}\n`;
      return name.length > width ? `  ${name}\n${indent}${body}` : `  ${name.padEnd(width)}   ${body}`;
    })
    .join('');
}

/** A word that is longer than a line is not broken. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
