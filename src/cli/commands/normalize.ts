import { URL_ERRORS } from '../../core/url/errors.ts';
import { explainUrl } from '../../core/url/explain.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { refangUrl } from '../../core/url/refang.ts';
import { visibleQuery } from '../output.ts';
import { queriesCommand, type TextResult } from '../queries.ts';

export const normalize = queriesCommand(
  {
    synopsis: 'normalize [URL…]',
    about: `Shows the normalized form of each URL and the rules that changed it (docs/url-rules.md). Without
operands it reads one URL per line of standard input. Defanged URLs such as hxxp://example[.]com are restored first,
except in JSON from standard input.

The exit code is 1 if a URL was refused, otherwise 0. With --json it is always 0.`,
    jsonOutput: '{"url":…} or {"error":…}',
    examples: ["urlwarden normalize 'HTTP://user:pw@Example.com:80/a b'", 'cut -d, -f3 urls.csv | urlwarden normalize'],
  },
  { resultJson, resultText, refang: refangUrl },
);

function resultJson(value: unknown): object {
  const result = normalizeUrl(value);
  return result.ok ? { url: result.url } : { error: result.error };
}

function resultText(input: string): TextResult {
  const url = refangUrl(input);
  const result = normalizeUrl(url);
  const query = visibleQuery(input);
  if (!result.ok) {
    return { text: `${query}\n  refused: ${URL_ERRORS[result.error]} (${result.error})\n`, isRefused: true };
  }
  const changes = [
    ...(url === input ? [] : ['  defanged form restored\n']),
    ...explainUrl(url, result).map(({ rule, text }) => `  ${text} (${rule})\n`),
  ];
  const lines = changes.length === 0 ? '  unchanged\n' : `→ ${result.url}\n${changes.join('')}`;
  return { text: `${query}\n${lines}`, isRefused: false };
}
