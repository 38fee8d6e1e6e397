import { URL_ERRORS } from '../../core/url/errors.ts';
import { explainUrl } from '../../core/url/explain.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { visible } from '../output.ts';
import { questionsCommand, type TextAnswer } from '../questions.ts';

export const normalize = questionsCommand(
  {
    synopsis: 'normalize [URL…]',
    about: `Shows the normalized form of each URL and the rules that changed it (docs/url-rules.md). Without
operands it reads one URL per line of standard input.

The exit code is 1 if a URL was refused, otherwise 0. With --json it is always 0.`,
    jsonOutput: '{"url":…} or {"error":…}',
    examples: ["urlwarden normalize 'HTTP://user:pw@Example.com:80/a b'", 'cut -d, -f3 urls.csv | urlwarden normalize'],
  },
  { answerJson, answerText },
);

function answerJson(value: unknown): object {
  const result = normalizeUrl(value);
  return result.ok ? { url: result.url } : { error: result.error };
}

function answerText(input: string): TextAnswer {
  const result = normalizeUrl(input);
  const question = visible(input);
  if (!result.ok) {
    return { text: `${question}\n  refused: ${URL_ERRORS[result.error]} (${result.error})\n`, isRefused: true };
  }
  const changes = explainUrl(input, result).map(({ rule, text }) => `  ${text} (${rule})\n`);
  const answer = changes.length === 0 ? '  unchanged\n' : `→ ${result.url}\n${changes.join('')}`;
  return { text: `${question}\n${answer}`, isRefused: false };
}
