import { URL_ERRORS } from '../../core/url/errors.ts';
import { explainUrl } from '../../core/url/explain.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import type { Command } from '../command.ts';
import { visible } from '../output.ts';
import { answerAll } from '../questions.ts';

export const normalize: Command = {
  usage: `urlwarden normalize [--json] [URL…]

Shows what each URL becomes and which rules changed it. Without arguments it reads one URL per line
from standard input.

  --json   for programs: standard input has one JSON string per line; the output has one object per
           line, {"url":…} or {"error":…}

Exit code: 1 when a URL was refused (with --json a refusal is an answer), otherwise 0.

  urlwarden normalize 'HTTP://user:pw@Example.com:80/a b'
  cut -d, -f3 urls.csv | urlwarden normalize
`,
  run: (args) => answerAll({ answerJson, answerText }, args),
};

function answerJson(value: unknown): object {
  const result = normalizeUrl(value);
  return result.ok ? { url: result.url } : { error: result.error };
}

function answerText(input: string): { text: string; refused: boolean } {
  const result = normalizeUrl(input);
  const question = visible(input);
  if (!result.ok) {
    return { text: `${question}\n  refused: ${URL_ERRORS[result.error]} (${result.error})\n`, refused: true };
  }
  const changes = explainUrl(input, result).map(({ rule, text }) => `  ${text} (${rule})\n`);
  const answer = changes.length === 0 ? '  unchanged\n' : `→ ${result.url}\n${changes.join('')}`;
  return { text: `${question}\n${answer}`, refused: false };
}
