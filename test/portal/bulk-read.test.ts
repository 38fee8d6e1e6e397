import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bulkFile } from '../../portal/bulk-file.ts';
import { type BulkRow, detectKind, type InputKind, newReading, readBlob, sentText } from '../../portal/bulk-read.ts';
import { lineCount } from '../../portal/pasted.ts';
import { cpuTimeMs } from '../cpu-time.ts';

async function read(content: string | Uint8Array<ArrayBuffer>, kind: InputKind | null = null, name = '') {
  const reading = newReading();
  let used: InputKind | null = null;
  const onPiece = (_: number, found: InputKind) => {
    used = found;
  };
  const isWhole = await readBlob(new Blob([content]), reading, {
    name,
    kind,
    onPiece,
    signal: new AbortController().signal,
  });
  return { ...reading, kind: used, isWhole, urls: reading.rows.map(({ url, input }) => url ?? `! ${input}`) };
}

const KINDS: { text: string; name?: string; kind: InputKind }[] = [
  { text: 'http://a.example/\nhxxp://b[.]example/x\n', kind: 'list' },
  { text: '# comment\n\nexample.com/a\n203.0.113.7/b\n', kind: 'list' },
  { text: 'http://a.example/x,y', kind: 'list' },
  { text: 'http://a.example/,online\n', name: 'urls.CSV', kind: 'csv' },
  { text: 'url,status\nhttp://a.example/,online\n', kind: 'csv' },
  { text: 'id;url\r\n1;http://a.example/\r\n', kind: 'csv' },
  { text: 'id;link\n1;http://a.example/\n', kind: 'csv' },
  { text: '1; http://a.example/\n2; http://b.example/\n', kind: 'text' },
  { text: 'See http://a.example/, and more.', kind: 'text' },
  { text: 'Received: from a.example; Tue\nSubject: x\n\nhttp://a.example/', kind: 'text' },
  { text: '1286536309.586 921 192.0.2.68 TCP_MISS/200 507 GET http://a.example/ - DIRECT/- -', kind: 'text' },
  { text: '', kind: 'text' },
];

describe('reading a list', () => {
  it('recognizes lists, tables and texts', () => {
    for (const { text, name = '', kind } of KINDS) assert.equal(detectKind(text, name), kind, text);
  });

  it('a table has no URL in a comment', async () => {
    const table = '# Terms: https://feed.example/terms\n# id,url\n"1","http://a.example/x"\n';
    assert.deepEqual((await read(table, null, 'dump.csv')).urls, ['http://a.example/x']);
  });

  it('a list has each URL once, with its first line, and says what is not valid', async () => {
    const { rows, ...reading } = await read(
      'http://a.example/x.\r\n\r\n# no URL\nHTTP://A.example:80/x.\nhxxps://b[.]example/\nnowhere.example/\nhttp://ö.example/\nnowhere.example/',
    );
    assert.equal(reading.kind, 'list');
    assert.deepEqual(reading.urls, [
      'http://a.example/x.',
      'https://b.example/',
      '! nowhere.example/',
      'http://xn--nda.example/',
    ]);
    assert.deepEqual(
      rows.map(({ line, times, isDefanged }) => [line, times, isDefanged]),
      [
        [1, 2, false],
        [5, 1, true],
        [6, 2, false],
        [7, 1, false],
      ],
    );
    assert.match(rows[2]?.error ?? '', /no scheme/);
    const { lines, occurrences, valid, invalid, defanged } = reading;
    assert.deepEqual(
      { lines, occurrences, valid, invalid, defanged },
      { lines: 7, occurrences: 6, valid: 3, invalid: 1, defanged: 1 },
    );
    assert.deepEqual(rows.map(sentText), [
      'http://a.example/x.',
      'https://b.example/',
      'nowhere.example/',
      'http://ö.example/',
    ]);
  });

  it('a URL in the first cell of a table ends at the delimiter', async () => {
    const table = 'url;note\nhttp://a.example/;one\n"http://b.example/;x";two\n3;http://c.example/\n';
    assert.deepEqual((await read(table)).urls, ['http://a.example/', 'http://b.example/;x', 'http://c.example/']);
  });

  it('of a table with a column for URLs, only this one is read', async () => {
    const rows = [
      '"1","http://a.example/x,y.","https://feed.example/url/1/"',
      '"2","hxxp://b[.]example/a""b","https://feed.example/url/2/"',
      '"3","","https://c.example/"',
      '"4","http://d.example/","open',
    ];
    for (const header of ['# id,url,feed_link', 'ID,URL,"link"']) {
      const { urls, column, invalid } = await read(['# Terms of https://feed.example/', header, ...rows].join('\r\n'));
      assert.deepEqual(urls, [
        'http://a.example/x,y.',
        'http://b.example/a%22b',
        'https://c.example/',
        'http://d.example/',
      ]);
      assert.deepEqual([column?.toLowerCase(), invalid], ['url', 0]);
    }
    const text = await read([`id,url,link`, ...rows].join('\n'), 'text');
    assert.deepEqual([text.column, text.urls.length], [null, 6]);
    assert.equal((await read('id,link\n1,http://a.example/\n')).column, null);
  });

  it('a blank in the column for URLs is a part of the URL, unless another URL follows', async () => {
    const rows = [
      'id,url,note',
      '1,http://a.example/my file.exe,http://no.example/ one',
      '2,"http://b.example/x,y z ",two',
      '3,http://c.example/ http://d.example/,three',
      '4,see http://e.example/ there,four',
    ];
    const { urls, rows: found } = await read(rows.join('\n'));
    assert.deepEqual(urls, [
      'http://a.example/my%20file.exe',
      'http://b.example/x,y%20z',
      'http://c.example/',
      'http://d.example/',
      'http://e.example/',
    ]);
    assert.equal(found[0] && sentText(found[0]), 'http://a.example/my file.exe');
  });

  it('a quote in a cell is written twice, and is a part of the URL', async () => {
    const table = [
      'id,link,note',
      '1,"http://x.example/a""b",one',
      '2,"http://x.example/a,""b",two',
      '3,http://x.example/c,"said ""no"" http://y.example/?d"',
      '4,"",http://x.example/e,"<a href=""http://x.example/g"">"',
      '5,"open http://x.example/f ""',
    ];
    assert.deepEqual((await read(table.join('\r\n'), 'csv')).urls, [
      'http://x.example/a%22b',
      'http://x.example/a,%22b',
      'http://x.example/c',
      'http://y.example/?d',
      'http://x.example/e',
      'http://x.example/g',
      'http://x.example/f',
    ]);
    assert.deepEqual((await read('id;url\n1;"http://x.example/a"";b"\n')).urls, ['http://x.example/a%22;b']);
  });

  it('finds URLs in encoded parts of a mail', async () => {
    const part = Buffer.from('<a href="http://inside.example/é">x</a>').toString('base64');
    const mail = `Subject: x\nContent-Transfer-Encoding: base64\n\n${part}\n\nhttp://after.example/.`;
    assert.deepEqual((await read(mail)).urls, ['http://inside.example/%C3%A9', 'http://after.example/']);
    assert.deepEqual((await read(mail.slice(0, mail.indexOf('\n\nhttp')))).urls, ['http://inside.example/%C3%A9']);
  });

  it('reads UTF-16, and characters on the edge of a piece', async () => {
    const utf16 = Buffer.from('\ufeffsee http://a.example/ é', 'utf16le');
    for (const bytes of [new Uint8Array(utf16), new Uint8Array(utf16.swap16())]) {
      assert.deepEqual((await read(bytes)).urls, ['http://a.example/']);
    }
    const long = `x${'é'.repeat(65_520)} http://b.example/${'ü'.repeat(40)} `;
    assert.equal(Buffer.from(long).toString('latin1', 128 * 1024 - 1, 128 * 1024 + 1), '\xc3\xbc');
    assert.deepEqual((await read(long)).urls, [`http://b.example/${'%C3%BC'.repeat(40)}`]);
  });

  it('a line of megabytes is read in parts, without losing a URL', async () => {
    const line = Array.from({ length: 60_000 }, (_, i) => `{"u":"http://a.example/${i}"}`).join(',');
    const { valid, lines } = await read(`http://a.example/ ${line}`, 'text');
    assert.equal(valid, 60_001);
    assert.ok(lines < 10);
  });

  it('stops at the most that a page can have', async () => {
    const text = Array.from({ length: 250_010 }, (_, i) => `http://a.example/${i}`).join('\n');
    const { rows, isWhole } = await read(text);
    assert.equal(rows.length, 250_000);
    assert.equal(isWhole, false);
    assert.equal((await read('http://a.example/')).isWhole, true);
  });

  it('stops when it is cancelled', async () => {
    const options = { name: '', kind: null, onPiece() {}, signal: AbortSignal.abort() };
    await assert.rejects(readBlob(new Blob(['http://a.example/']), newReading(), options), { name: 'AbortError' });
  });

  it('counts the lines of a pasted text', () => {
    assert.equal(lineCount('http://a.example/\n'), 1);
    assert.equal(lineCount('\n\n a\r\n\r\nb \n'), 2);
    assert.equal(lineCount(' \n'), 0);
  });
});

const ROW = { times: 1, isDefanged: false, error: null };
const FOUND = {
  n: 2,
  found: true as const,
  id: 7,
  url: 'http://b.example/',
  status: { ts: 1_700_000_000, status: 'online', removal: null, reporter: '=cmd()' },
  payload: null,
};
const ROWS = [
  { ...ROW, line: 1, input: 'http://a.example/', url: 'http://a.example/', found: null },
  { ...ROW, line: 2, input: 'http://b.example/', url: 'http://b.example/', found: FOUND },
  { ...ROW, line: 3, times: 4, input: '=HYPERLINK("x")', url: null, error: 'No, "URL".' },
  { ...ROW, line: 4, input: 'http://ü.example/', url: 'http://ü.example/', error: 'The server refuses it.' },
  { ...ROW, line: 5, input: 'http://c.example/', url: 'http://c.example/' },
] as unknown as BulkRow[];

describe('the file with the results', () => {
  it('as CSV: no cell is a formula, and the last line says what is missing', () => {
    const lines = [...bulkFile('csv', ROWS, 'Incomplete: 1 URL of 4 was not looked up.')].join('').split('\r\n');
    assert.deepEqual(lines, [
      'line,input,result,url,status,ts,removal,reporter,payload_ts,sha256_hash,file_type,file_name,malware_family,error,times',
      '1,http://a.example/,unknown,http://a.example/,,,,,,,,,,,1',
      "2,http://b.example/,found,http://b.example/,online,1700000000,,'=cmd(),,,,,,,1",
      '3,"\'=HYPERLINK(""x"")",invalid,,,,,,,,,,,"No, ""URL"".",4',
      '4,http://ü.example/,invalid,,,,,,,,,,,The server refuses it.,1',
      '# Incomplete: 1 URL of 4 was not looked up.',
      '',
    ]);
    const columns = lines[0]?.split(',').length;
    assert.ok(lines.slice(1, 3).every((line) => line.split(',').length === columns));
  });

  it('as NDJSON', () => {
    const lines = [...bulkFile('ndjson', ROWS, 'x')].map((line) => JSON.parse(line));
    assert.deepEqual(lines[0], {
      line: 1,
      input: 'http://a.example/',
      times: 1,
      found: false,
      url: 'http://a.example/',
    });
    assert.deepEqual(lines[1].status, FOUND.status);
    assert.equal(lines[1].line, 2);
    assert.deepEqual(lines.slice(2), [
      { line: 3, input: '=HYPERLINK("x")', times: 4, error: 'No, "URL".' },
      { line: 4, input: 'http://ü.example/', times: 1, error: 'The server refuses it.' },
      { incomplete: 'x' },
    ]);
  });
});

it('the kind of a long line of dots is found in time that grows with its length', () => {
  const start = cpuTimeMs();
  assert.equal(detectKind(`${'a.'.repeat(40_000)},`, ''), 'text');
  const tookMs = cpuTimeMs() - start;
  assert.ok(tookMs < 1_000, `${tookMs} ms`); // if each dot may be the one inside: 5 s
});
