import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { extractUrls } from '../../../src/core/url/extract.ts';
import { cpuTimeMs } from '../../cpu-time.ts';

const A = 'http://a.example/x';

const TEXTS: [text: string, ...urls: string[]][] = [
  ['nothing here: a.example/x, mailto:a@b.example, http:// and https://...'],
  [`${A}`, A],
  [`see ${A}, https://b.example. And ftp://c.example/d!`, A, 'https://b.example', 'ftp://c.example/d'],
  ['HTTP://A.example/x HxxPs://b[.]example(dot)com/y', 'HTTP://A.example/x', 'HxxPs://b[.]example(dot)com/y'],
  ['hxxp[:]//a[.]example/ http[://]b.example/', 'hxxp[:]//a[.]example/', 'http[://]b.example/'],
  [
    'hxxp://[2001[:]db8[:][:]1]:8080/a, http://[2001:db8::1]',
    'hxxp://[2001[:]db8[:][:]1]:8080/a',
    'http://[2001:db8::1]',
  ],
  [`(${A}) [${A}] {${A}} <${A}> "${A}" '${A}' \`${A}\` “${A}” «${A}»`, A, A, A, A, A, A, A, A, A],
  [`(see ${A}).`, A],
  [
    'https://en.example/Mercury_(planet), and (https://en.example/Mercury_(planet))',
    ...twice('https://en.example/Mercury_(planet)'),
  ],
  ['http://a.example/?x[]=1&y[0]=2', 'http://a.example/?x[]=1&y[0]=2'],
  [`[text](${A}) ![image](${A} "title") [${A}](${A}) **${A}** _${A}_ ~~${A}~~`, A, A, A, A, A, A, A],
  ['http://a.example/x_ http://a.example/~', 'http://a.example/x_', 'http://a.example/~'],
  [`<a href="${A}?a=1&amp;b=2">${A}?a=1&#38;b=2</a>`, `${A}?a=1&b=2`, `${A}?a=1&b=2`],
  [`<a href='${A}'>h&#116;tp://b.example/</a> &lt;${A}&gt; &quot;${A}&quot;`, A, 'http://b.example/', A, A],
  [`<a href=${A}>&amp;lt;${A}&amp;lt;`, A, `${A}&lt`],
  ['{"url":"http:\\/\\/a.example\\/x?a=1\\u0026b=2","text":"http://a.example/x\\nnext"}', `${A}?a=1&b=2`, A],
  [`${A},https://b.example/;ftp://c.example/`, A, 'https://b.example/', 'ftp://c.example/'],
  [`1,${A},GET 2;${A};GET |${A}|GET|`, A, A, A],
  ['http://a.example/x,y;z|w', 'http://a.example/x,y;z|w'],
  ['https://archive.example/web/http://a.example/x', 'https://archive.example/web/http://a.example/x'],
  [`view-source:${A} url=${A} xhttp://b.example/ ftps://b.example/`, A, A],
  [`请访问${A}。谢谢（${A}）`, A, A],
  [`caf\ufffd ${A}\ufffd ${A}\u0000 ${A}\u200b`, A, A, A],
  ['http://a.example/&#99999999; &#9999999;', 'http://a.example/&#99999999'],
];

describe('URLs in running text', () => {
  for (const [text, ...urls] of TEXTS) {
    it(text, () => assert.deepEqual(extractUrls(text), urls));
  }

  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const url = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'ftp://', 'hxxp://', 'hxxps[:]//'),
      fc.array(label, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('.example', '[.]example', '(dot)example:8080'),
      fc.stringMatching(/^(\/[A-Za-z0-9._~%()+=-]{0,8}){0,3}(\?[a-z]=[A-Za-z0-9%/.-]{0,9})?$/),
    )
    .map(([scheme, labels, end, rest]) => `${scheme}${labels.join('.')}${end}${rest}`)
    .filter((text) => /[A-Za-z0-9/]$/.test(text) && isBalanced(text));
  const around = fc.constantFrom<[before: string, after: string]>(
    [' ', ''],
    ['(', ')'],
    ['[', ']'],
    ['{', '}'],
    ['<', '>'],
    ['"', '"'],
    ["'", "'"],
    ['`', '`'],
    ['|', '|'],
    ['“', '”'],
    [',', ','],
    [';', ';'],
    ['(see: ', ').'],
    ['<a href="', '">'],
    ['<b>', '</b>'],
    ['**', '**'],
    ['[x](', ')'],
    ['url=', ''],
    ['\t', '\t'],
    ['', '.'],
    ['', ', '],
    ['', '?"'],
  );

  it('all URLs that are put into a text come out in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(url, around), { maxLength: 6 }), (parts) => {
        const text = parts.map(([one, [before, after]]) => `word ${before}${one}${after} word`).join('\n');
        assert.deepEqual(
          extractUrls(text),
          parts.map(([one]) => one),
        );
      }),
    );
  });

  it('any text is read, and quickly', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => extractUrls(text).length <= text.length));
    const parts = [
      'http://',
      ',',
      '(',
      ')',
      '[',
      '&',
      '&#',
      '\\u00',
      '=',
      'h',
      'http://a,',
      'http://a)',
      "'http://a'b",
      '[http://a]b',
    ];
    for (const part of parts) {
      const startMs = cpuTimeMs();
      extractUrls(`http://a.example/${part.repeat(50_000)}`);
      assert.ok(cpuTimeMs() - startMs < 2_000, part);
    }
  });
});

function twice(text: string): string[] {
  return [text, text];
}

function isBalanced(text: string): boolean {
  let open = 0;
  for (const character of text) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (open < 0) return false;
  }
  return open === 0;
}
