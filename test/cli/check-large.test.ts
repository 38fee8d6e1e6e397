import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { urlwarden } from './urlwarden.ts';

/** 2026-01-31T12:00:00Z */
const T = 1_769_860_800;
const KNOWN = Array.from({ length: 50 }, (_, i) => `http://bad.example/drop/${i}?a=1&b=${i}`);
const known = (i: number): string => KNOWN[i % KNOWN.length] as string;

/** Enough for the program; each of the inputs, kept as text or as URLs, would not fit beside it. */
const HEAP_LIMIT = { NODE_OPTIONS: '--max-old-space-size=40' };
const LIMIT_MS = 60_000;

type Input = { name: string; text: string; hits: [line: number, url: string][]; summary: string };

/** Squid's native format: every fifth line is a tunnel without a URL, every 500th a hit, half of them in another spelling. */
function proxyLog(): Input {
  const hits: Input['hits'] = [];
  const lines = Array.from({ length: 100_000 }, (_, i) => {
    const start = `${T + i}.${100 + (i % 900)} ${String(i % 5000).padStart(6)} 192.0.2.${i % 250} TCP_MISS/200 ${i}`;
    if (i % 5 === 1) return `${start} CONNECT host${i}.example:443 - HIER_DIRECT/198.51.100.7 -\n`;
    const isHit = i % 500 === 0;
    if (isHit) hits.push([i + 1, known(i / 500)]);
    const respelled = i % 1000 === 0 ? known(i / 500).replace('http://bad.example', 'HTTP://BAD.example:80') : null;
    const url = isHit ? (respelled ?? known(i / 500)) : `http://host${i}.example/path/${i}.html?session=${i}`;
    return `${start} GET ${url} user${i % 40} HIER_DIRECT/203.0.113.7 text/html\n`;
  });
  const summary = '100,000 lines, 80,000 URLs (79,850 distinct), 200 found, 0 invalid\n';
  return { name: 'access.log', text: lines.join(''), hits, summary };
}

/** Every 1,000th row is a hit, in a cell with text around the URL and a comma after it. */
function csv(): Input {
  const hits: Input['hits'] = [];
  const rows = Array.from({ length: 100_000 }, (_, i) => {
    if (i % 1000 !== 7) return `${i},"seen at http://host${i}.example/p, by a user",GET\n`;
    hits.push([i + 2, known((i - 7) / 1000)]);
    return `${i},"seen at ${known((i - 7) / 1000)
      .replace('http', 'hxxp')
      .replace('.', '[.]')}, by a user",GET\n`;
  });
  const summary = '100,001 lines, 100,000 URLs (99,950 distinct), 100 found, 0 invalid\n';
  return { name: 'report.csv', text: `id,note,method\n${rows.join('')}`, hits, summary };
}

const base64 = (content: string | Buffer): string[] =>
  Buffer.from(content)
    .toString('base64')
    .match(/.{1,76}/g) ?? [];

/** A text in quoted-printable with a URL over two lines, a page of 4,000 links in base64, and an attachment of 12 MB. */
function mail(): Input {
  const links = Array.from({ length: 4000 }, (_, i) =>
    i % 80 === 0 ? known(i / 80) : `http://host${i}.example/?x=1&y=${i}`,
  );
  const html = links.map((url) => `<p><a href="${url.replaceAll('&', '&amp;')}">open</a></p>\n`).join('');
  const attachment = Buffer.alloc(12_000_000, 'no link in here\n');
  const part = (type: string, encoding: string, content: string[]) => [
    '--b1_example',
    `Content-Type: ${type}`,
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    ...content,
    '',
  ];
  const quoted = ['Pr=C3=BCfen Sie http://bad.example/drop/3?a=3D=', '1&b=3D3, bitte.'];
  const lines = [
    'From: Ada <ada@example.com>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b1_example"',
    '',
    ...part('text/plain; charset=utf-8', 'quoted-printable', quoted),
    ...part('text/html; charset=utf-8', 'base64', base64(html)),
    ...part('application/octet-stream', 'base64', base64(attachment)),
    '--b1_example--',
    '',
  ];
  const hits: Input['hits'] = [known(3), ...links.filter((url) => url.startsWith('http://bad'))].map((url) => [0, url]);
  const count = lines.length - 1;
  const summary = `${count.toLocaleString('en')} lines, 4,001 URLs (4,000 distinct), 51 found, 0 invalid\n`;
  return { name: 'mail.eml', text: lines.join('\r\n'), hits, summary };
}

test('check --extract on large files: exact hits, in little memory', async (t) => {
  const folder = temporaryFolder(t);
  const place = ['--data', join(folder, 'data')];
  const store = await openIntelligence({ dataDir: join(folder, 'data') });
  t.after(() => store.close());
  await store.apply(KNOWN.map((url) => seen({ ts: T, url })));
  for (const make of [proxyLog, csv, mail]) {
    const { name, text, hits, summary } = make();
    await t.test(`${name}, ${Math.round(text.length / 1e6)} MB`, async () => {
      const file = join(folder, name);
      writeFileSync(file, text);
      const startMs = performance.now();
      const args = ['check', file, '--extract', '--found', '--json', ...place];
      const { code, stdout, stderr } = await urlwarden(args, '', { env: HEAP_LIMIT });
      assert.equal(code, 3, stderr);
      // On a slow machine, lines about the progress come first.
      assert.ok(stderr.endsWith(summary), stderr);
      const found = stdout.trimEnd().split('\n');
      const results = found.map((line) => JSON.parse(line) as { line: number; url: string });
      // The line of a URL in an encoded part is where its text is complete.
      assert.deepEqual(
        results.map(({ line, url }) => [name === 'mail.eml' ? 0 : line, url]),
        hits,
      );
      assert.ok(performance.now() - startMs < LIMIT_MS);
    });
  }
});
