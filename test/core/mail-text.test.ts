import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createMailDecoder } from '../../src/core/mail-text.ts';

function decoded(lines: readonly string[]): string[] {
  const mail = createMailDecoder();
  return [...lines.flatMap((line) => mail.add(line)), ...mail.end()];
}

function base64Lines(text: string, encoding: BufferEncoding = 'utf8', width = 76): string[] {
  const encoded = Buffer.from(text, encoding).toString('base64');
  return encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
}

/** Every character as bytes, with soft breaks: the hardest valid form. */
function quotedPrintableLines(text: string): string[] {
  const bytes = [...Buffer.from(text)].map((byte) =>
    byte === 0x0a ? '\n' : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return bytes
    .join('')
    .split('\n')
    .flatMap((line) =>
      (line.match(/.{1,30}/g) ?? ['']).map((part, i, all) => (i < all.length - 1 ? `${part}=` : part)),
    );
}

const HEADER = (encoding: string) => [
  'Content-Type: text/html;',
  '\tcharset="utf-8"',
  `content-transfer-encoding: ${encoding}`,
  '',
];

describe('the text of a mail', () => {
  it('parts in base64 and quoted-printable are decoded, nested ones too', () => {
    const html = '<a href="http://a.example/é?x=1">\n text';
    const lines = decoded([
      'Subject: two parts',
      'Content-Type: multipart/mixed; boundary=outer',
      '',
      '--outer',
      'Content-Type: multipart/alternative;',
      ' boundary="in ner"',
      '',
      '--in ner',
      ...HEADER('Quoted-Printable'),
      'http://a.example/=',
      'x?a=3D1',
      '-- ',
      'not a --outer boundary',
      'a in ner',
      '--in nerly',
      'x?a=3D2',
      '--in ner',
      '',
      'not encoded ?b=3D2',
      '--in ner',
      ...HEADER('BASE64'),
      ...base64Lines(html),
      '',
      '--in ner--',
      '--outer',
      '',
      'plain ?a=3D1=',
      '--outer',
      ...HEADER('quoted-printable'),
      'x?a=3D3',
      '--outer-- ',
      'after the parts ?a=3D1',
    ]);
    assert.deepEqual(
      lines.filter((line) => !/^(content|subject|\s+(charset|boundary)|--|$)/i.test(line)),
      [
        'http://a.example/x?a=1',
        'not a --outer boundary',
        'a in ner',
        'x?a=2',
        'not encoded ?b=3D2',
        '<a href="http://a.example/é?x=1">',
        ' text',
        'plain ?a=3D1=',
        'x?a=3',
        'after the parts ?a=3D1',
      ],
    );
  });

  it('the charset of a part is used, an unknown one is read as UTF-8', () => {
    const header = (charset: string) => [
      `Content-Type: text/plain; charset=${charset}`,
      'Content-Transfer-Encoding: base64',
      '',
    ];
    assert.deepEqual(decoded([...header('utf-16le'), ...base64Lines('http://a.example/', 'utf16le')]).slice(3), [
      'http://a.example/',
    ]);
    assert.deepEqual(decoded([...header('"x-unknown"'), ...base64Lines('é')]).slice(3), ['é']);
  });

  it('a part that is not base64 ends it, so its text is read as it is', () => {
    const lines = ['Content-Transfer-Encoding: base64', '', 'see http://a.example/?a=20', 'b=', 'c'];
    assert.deepEqual(decoded(lines), ['Content-Transfer-Encoding: base64', '', ...lines.slice(2)]);
  });

  it('the next mail of an mbox file, and a part after an unknown boundary', () => {
    const lines = ['Content-Transfer-Encoding: quoted-printable', '', 'a=3D1'];
    const next = 'From ada@example.com Sat Jan  3 01:05:34 2026';
    assert.deepEqual(decoded([...lines, next, 'a=3D1']).slice(2), ['a=1', next, 'a=3D1']);
    const part = ['Content-Transfer-Encoding: base64', '', ...base64Lines('text')];
    assert.deepEqual(decoded([...lines, '--unknown', ...part]).slice(2), [
      'a=1',
      '--unknown',
      ...part.slice(0, 2),
      'text',
    ]);
  });

  it('a decoded line without an end is passed on in pieces, cut between URLs', () => {
    const word = '<a href="http://a.example/0123456789"> ';
    const lines = decoded([...HEADER('base64'), ...base64Lines(word.repeat(60_000))]).slice(4);
    assert.ok(lines.length > 1);
    assert.equal(lines.join(''), word.repeat(60_000));
    for (const line of lines) assert.ok(!/example[^"]*$/.test(line), line.slice(-60));
  });

  it('a mail may end within a line, and within a byte of base64', () => {
    assert.deepEqual(decoded([...HEADER('quoted-printable'), 'a=3D1=']).slice(4), ['a=1']);
    assert.deepEqual(decoded([...HEADER('base64'), 'dGV4d']).slice(4), ['tex']);
    assert.deepEqual(decoded([...HEADER('base64'), '==', 'dGV4d=']).slice(4), ['tex']);
  });

  it('text that is no mail is not changed', () => {
    fc.assert(fc.property(fc.array(fc.string()), (lines) => assert.deepEqual(decoded(lines), lines)));
  });

  it('any text comes out of both encodings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        assert.equal(
          // Lines that end within a group of four, and within a character.
          decoded([...HEADER('base64'), ...base64Lines(text, 'utf8', 7)])
            .slice(4)
            .join('\n'),
          text,
        );
        const printable = decoded([...HEADER('quoted-printable'), ...quotedPrintableLines(text)]);
        assert.equal(printable.slice(4).join('\n'), text.split('\n').join('\n'));
      }),
    );
  });
});
