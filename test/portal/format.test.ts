import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agoText,
  askLine,
  bytesText,
  dateText,
  dayText,
  defang,
  exactSpanText,
  shellQuoted,
  shortHash,
  spanText,
  timeText,
  visible,
  withoutCommands,
} from '../../portal/format.ts';

const TS = Date.UTC(2026, 10, 10, 8, 14) / 1_000;

test('times', () => {
  assert.equal(timeText(TS), '2026-11-10 08:14');
  assert.equal(dateText(TS), '10 Nov 2026');
  assert.equal(dayText(TS), '2026-11-10');
  assert.equal(timeText(2 ** 53), '+275760-09-13 00:00');
  assert.equal(dateText(2 ** 53), '13 Sep 275760');
  assert.deepEqual([-1, 0, 1.9, 60, 119, 3_600, 7_199, 86_400, 172_800, 259_199].map(spanText), [
    '0 seconds',
    '0 seconds',
    '1 second',
    '1 minute',
    '1 minute',
    '1 hour',
    '1 hour',
    '24 hours',
    '2 days',
    '2 days',
  ]);
  assert.deepEqual([86_400, 129_600, 5_400, 90].map(exactSpanText), ['1 day', '36 hours', '90 minutes', '90 seconds']);
  assert.equal(agoText(TS, TS + 720), '12 minutes ago');
  assert.equal(agoText(TS, TS - 7_200), 'in 2 hours');
  assert.deepEqual(
    [4, 5, -4, -5].map((seconds) => agoText(TS, TS + seconds)),
    ['now', '5 seconds ago', 'now', 'in 5 seconds'],
  );
});

test('sizes', () => {
  const sizes = [0, 999, 1_000, 1_842, 9_949, 9_950, 102_440, 999_499, 999_500, 1_249_280, 3_500_000_000, 4e15];
  assert.deepEqual(sizes.map(bytesText), [
    '0 B',
    '999 B',
    '1.0 kB',
    '1.8 kB',
    '9.9 kB',
    '10 kB',
    '102 kB',
    '999 kB',
    '1.0 MB',
    '1.2 MB',
    '3.5 GB',
    '4000 TB',
  ]);
});

test('a URL is defanged in scheme and host only', () => {
  assert.equal(defang('http://203.0.113.7/bin.sh'), 'hxxp://203[.]0[.]113[.]7/bin.sh');
  assert.equal(defang('https://www.example.com/a.b?c=d.e'), 'hxxps://www[.]example[.]com/a.b?c=d.e');
  assert.equal(defang('ftp://example.com'), 'fxp://example[.]com');
});

test('characters that cannot be seen are shown by their code', () => {
  assert.equal(visible('a\u202eb\u0000c\u200b\ud800'), 'a\\u202eb\\u0000c\\u200b\\ud800');
  assert.equal(visible('<img src=x> ü 漢 😀'), '<img src=x> ü 漢 😀');
});

test('a text in a shell command stays one text', () => {
  assert.equal(shellQuoted("it's $(x)"), "'it'\\''s $(x)'");
});

test('a query by curl has a body only if there is one', () => {
  const start = 'curl -H "Authorization: Bearer $TOKEN"';
  assert.equal(askLine('https://a.example/x'), `${start} 'https://a.example/x'`);
  assert.equal(askLine('https://a.example/x', { a: 1 }), `${start} --json '{"a":1}' 'https://a.example/x'`);
});

test('a hash is shortened in its middle', () => {
  assert.equal(shortHash('0123456789abcdef0123'), '0123456789abcdef0123');
  assert.equal(shortHash('0123456789abcdef01234'), '0123456789ab…1234');
});

test('messages of the server without commands', () => {
  const vectors: [message: string, shown: string][] = [
    [
      '203.0.113.7: on an allow list. To list it, take it off first: see urlwarden allow list',
      '203.0.113.7: on an allow list. To list it, take it off first.',
    ],
    [
      'This is the last enabled administrator: make another account one first (urlwarden account set USERNAME --admin yes).',
      'This is the last enabled administrator: make another account one first.',
    ],
    ['There is already a feed a. To change it: urlwarden feed set a', 'There is already a feed a.'],
    [
      'This is JSON, which the format csv cannot read. See: urlwarden import --help',
      'This is JSON, which the format csv cannot read.',
    ],
    [
      '203.0.113.7 has no live listing of its own.\nIt is inside 203.0.113.0/24. To exempt it: urlwarden allow add 203.0.113.7\n' +
        'For its history: urlwarden listing show 203.0.113.7',
      '203.0.113.7 has no live listing of its own.\nIt is inside 203.0.113.0/24.',
    ],
    ['The file is larger than 2 GiB: use urlwarden import', 'The file is larger than 2 GiB.'],
    ['"urlwarden" is no tier', '"urlwarden" is no tier'],
  ];
  for (const [message, shown] of vectors) assert.equal(withoutCommands(message), shown);
});
