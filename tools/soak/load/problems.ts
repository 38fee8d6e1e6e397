/** What went wrong, counted by kind, with the first examples of each. */
export type Problems = {
  add(kind: string, example: string): void;
  isEmpty(): boolean;
  lines(): string[];
};

const EXAMPLES = 3;
const EXAMPLE_CHARACTERS = 400;

export function createProblems(): Problems {
  const kinds = new Map<string, { count: number; examples: string[] }>();
  return {
    add(kind, example) {
      const known = kinds.get(kind) ?? { count: 0, examples: [] };
      kinds.set(kind, known);
      known.count++;
      if (known.examples.length < EXAMPLES) known.examples.push(example.slice(0, EXAMPLE_CHARACTERS));
    },
    isEmpty: () => kinds.size === 0,
    lines: () =>
      [...kinds].flatMap(([kind, { count, examples }]) => [
        `${count} × ${kind}`,
        ...examples.map((example) => `    ${example}`),
      ]),
  };
}
