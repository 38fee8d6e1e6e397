import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joined, safeName } from '../../portal/download.ts';
import { DAY } from '../../portal/format.ts';
import { searchFile } from '../../portal/search-file.ts';
import {
  barsOfDays,
  choiceQuery,
  createRowStore,
  daysOfBars,
  hostOf,
  isChosen,
  NO_CHOICE,
  readChoice,
  type SearchRecord,
  sortedRows,
  toggled,
  viewOf,
} from '../../portal/search-rows.ts';

const record = (id: number, day: number, more: Partial<SearchRecord> = {}): SearchRecord => ({
  ts: day * DAY,
  id,
  url: `http://192.0.2.${id}/a`,
  status: 'online',
  family: 'Mirai',
  asn: 64500,
  network: null,
  ...more,
});

function rowsOf(...records: SearchRecord[]) {
  const store = createRowStore();
  store.add(records);
  return store.rows;
}

describe('the filters of a search', () => {
  it('can be read again from the address', () => {
    const values = ['a&b=c #%', '', 'online', 'half \ufffd'];
    const choice = {
      ...values.reduce((chosen, value, i) => toggled(chosen, i, value), NO_CHOICE),
      days: { from: 5, to: 7 },
    };
    const text = choiceQuery(toggled(choice, 2, 'offline'));
    assert.equal(
      text,
      '&only-host=a%26b%3Dc%20%23%25&only-network=&only-status=online&only-status=offline&only-family=half%20%EF%BF%BD&days=5-7',
    );
    assert.deepEqual(readChoice(new URLSearchParams(text)), toggled(choice, 2, 'offline'));
    assert.equal(choiceQuery(NO_CHOICE), '');
    assert.deepEqual(readChoice(new URLSearchParams('host=a.example&days=x')), NO_CHOICE);
  });

  it('are chosen if there is one value or a range of days', () => {
    const choices = [NO_CHOICE, toggled(NO_CHOICE, 2, 'online'), { ...NO_CHOICE, days: { from: 5, to: 5 } }];
    assert.deepEqual(choices.map(isChosen), [false, true, true]);
  });
});

describe('the rows of a search', () => {
  it('are one per URL, with the newest fact', () => {
    const store = createRowStore();
    store.add([record(1, 5), record(2, 9)]);
    store.add([record(1, 7, { status: 'offline' }), record(1, 6)]);
    assert.deepEqual(
      store.rows.map(({ id, ts, status }) => [id, ts / DAY, status]),
      [
        [1, 7, 'offline'],
        [2, 9, 'online'],
      ],
    );
    assert.equal(store.factCount(), 4);
    assert.deepEqual(
      [...store.facts()].map(({ id, ts }) => [id, ts / DAY]),
      [
        [1, 5],
        [2, 9],
        [1, 7],
        [1, 6],
      ],
    );
  });

  it('know their host', () => {
    for (const [url, host] of [
      ['http://192.0.2.7:8080/a', '192.0.2.7'],
      ['https://[2001:db8::1]:8080/', '[2001:db8::1]'],
      ['ftp://user:secret@files.example/x@y', 'files.example'],
      ['http://bad.example?q', 'bad.example'],
      ['nonsense', ''],
    ] as const) {
      assert.equal(hostOf(url), host);
    }
  });

  it('are sorted with missing values last in both directions, equal ones by time', () => {
    const rows = rowsOf(
      record(1, 1, { status: null }),
      record(2, 2, { status: 'online' }),
      record(3, 3, { status: 'offline' }),
      record(4, 4, { status: 'online' }),
      record(5, 5, { status: null }),
    );
    const ids = (by: 'status' | 'ts' | 'url', isDown: boolean) => sortedRows(rows, { by, isDown }).map(({ id }) => id);
    assert.deepEqual(ids('status', false), [3, 4, 2, 5, 1]);
    assert.deepEqual(ids('status', true), [4, 2, 3, 5, 1]);
    assert.deepEqual(ids('ts', true), [5, 4, 3, 2, 1]);
    assert.deepEqual(ids('url', false), [1, 2, 3, 4, 5]);
  });
});

describe('facets', () => {
  const rows = rowsOf(
    record(1, 1, { network: 'Example Hosting' }),
    record(2, 1, { status: 'offline', family: 'Gafgyt', asn: 64501 }),
    record(3, 2, { status: 'offline', family: null, asn: null }),
  );

  it('count every value, the unknown ones too', () => {
    const { facets } = viewOf(rows, NO_CHOICE);
    assert.deepEqual(facets[2]?.top, [
      { value: 'offline', count: 2 },
      { value: 'online', count: 1 },
    ]);
    assert.deepEqual(
      facets[1]?.top.map(({ value }) => value),
      ['AS64500 Example Hosting', 'AS64501', ''],
    );
  });

  it('filter the rows, the other facets and the histogram, but not themselves', () => {
    const choice = toggled(NO_CHOICE, 2, 'offline');
    const view = viewOf(rows, choice);
    assert.deepEqual(
      view.rows.map(({ id }) => id),
      [2, 3],
    );
    assert.deepEqual(
      view.facets[2]?.top.map(({ count }) => count),
      [2, 1],
    );
    assert.deepEqual(
      view.facets[3]?.top.map(({ value }) => value),
      ['Gafgyt', ''],
    );
    assert.deepEqual(view.histogram.counts.slice(-2), [1, 1]);
    assert.deepEqual(viewOf(rows, toggled(choice, 2, 'offline')), viewOf(rows, NO_CHOICE));
  });

  it('must all match; a chosen value stays visible without a match', () => {
    const view = viewOf(rows, toggled(toggled(NO_CHOICE, 2, 'online'), 3, 'Gafgyt'));
    assert.equal(view.rows.length, 0);
    assert.deepEqual(view.facets[3]?.top, [
      { value: 'Mirai', count: 1 },
      { value: 'Gafgyt', count: 0 },
    ]);
  });

  it('show the eight most frequent values, and the chosen ones', () => {
    // The last five families occur once more.
    const families = Array.from({ length: 60 }, (_, i) => (i < 55 ? i % 11 : i - 49));
    const many = rowsOf(...families.map((family, i) => record(i + 1, 1, { family: `family ${family}` })));
    const { top, distinct } = viewOf(many, toggled(NO_CHOICE, 3, 'family 5')).facets[3] ?? {};
    assert.deepEqual(
      top?.map(({ value, count }) => `${count} of ${value}`),
      [...[6, 7, 8, 9, 10].map((n) => `6 of family ${n}`), ...[0, 1, 2, 5].map((n) => `5 of family ${n}`)],
    );
    assert.equal(distinct, 11);
  });
});

describe('the histogram', () => {
  const rows = rowsOf(record(1, 100), record(2, 100, { ts: 101 * DAY - 1 }), record(3, 103));

  it('has a bar for every day up to the last', () => {
    const { firstDay, daysPerBar, counts } = viewOf(rows, NO_CHOICE).histogram;
    assert.deepEqual(
      [firstDay, daysPerBar, counts.length, counts.slice(-5)],
      [74, 1, 30, [0, 2, 0, 0, 1]],
      'thirty days at least',
    );
    assert.deepEqual(viewOf([], NO_CHOICE).histogram.counts, []);
  });

  it('filters by days and keeps its own bars', () => {
    const view = viewOf(rows, { ...NO_CHOICE, days: { from: 103, to: 103 } });
    assert.deepEqual(
      view.rows.map(({ id }) => id),
      [3],
    );
    assert.deepEqual(view.histogram.counts.slice(-4), [2, 0, 0, 1]);
    assert.equal(view.facets[0]?.distinct, 1);
  });

  it('has bars of whole weeks for a long time, at most 370', () => {
    for (const [days, daysPerBar] of [
      [370, 1],
      [371, 7],
      [2_590, 7],
      [2_591, 14],
      [20_000, 56],
    ] as const) {
      const { histogram } = viewOf(rowsOf(record(1, 0), record(2, days - 2), record(3, days - 1)), NO_CHOICE);
      assert.equal(histogram.daysPerBar, daysPerBar, `${days} days`);
      assert.ok(histogram.counts.length <= 370);
      assert.equal(histogram.counts.at(-1), daysPerBar === 1 ? 1 : 2);
      const sum = histogram.counts.reduce((all, count) => all + count);
      assert.equal(sum, 3);
      const end = histogram.firstDay + histogram.counts.length * histogram.daysPerBar - 1;
      assert.equal(end, days - 1, 'the last bar ends with the last day');
    }
  });

  it('turns bars into days and back', () => {
    const weeks = { firstDay: 100, daysPerBar: 7, counts: [1, 1, 1] };
    assert.deepEqual(daysOfBars(weeks, 2, 1), { from: 107, to: 120 });
    assert.deepEqual(barsOfDays(weeks, { from: 107, to: 120 }), [1, 2]);
    assert.deepEqual(barsOfDays(weeks, { from: 110, to: 110 }), [1, 1]);
    assert.deepEqual(barsOfDays(weeks, { from: 0, to: 1_000 }), [0, 2]);
    assert.equal(barsOfDays(weeks, { from: 0, to: 99 }), null);
  });
});

describe('a download', () => {
  const records = [
    record(1, 20_000, { url: 'http://bad.example/a,"b"', family: '=cmd()', network: null }),
    record(2, 20_001, { family: null, asn: null, status: null }),
  ];
  const file = (format: 'csv' | 'ndjson' | 'json', incomplete: string | null = null, list = records) =>
    [...searchFile(format, list, incomplete)].join('');

  it('as CSV has cells that no spreadsheet runs', () => {
    assert.equal(
      file('csv', 'Incomplete: it was stopped after 2 facts.'),
      'ts,time,id,url,status,family,asn,network\r\n' +
        `1728000000,2024-10-04T00:00:00Z,1,"http://bad.example/a,""b""",online,'=cmd(),64500,\r\n` +
        '1728086400,2024-10-05T00:00:00Z,2,http://192.0.2.2/a,,,,\r\n' +
        '# Incomplete: it was stopped after 2 facts.\r\n',
    );
    assert.equal(file('csv').split('\r\n').length, 4);
  });

  it('as NDJSON and JSON has the records of the stream', () => {
    assert.equal(file('ndjson'), records.map((line) => `${JSON.stringify(line)}\n`).join(''));
    assert.deepEqual(JSON.parse(file('json')), records);
    assert.deepEqual(JSON.parse(file('json', null, [])), []);
    assert.equal(file('ndjson', null, []), '');
  });

  it('says in its last record that it is incomplete', () => {
    assert.deepEqual(JSON.parse(file('json', 'Incomplete.')), [...records, { incomplete: 'Incomplete.' }]);
    assert.deepEqual(JSON.parse(file('ndjson', 'Incomplete.').trimEnd().split('\n').at(-1) ?? ''), {
      incomplete: 'Incomplete.',
    });
  });

  it('holds every record, in few parts', () => {
    const many = Array.from({ length: 2_500 }, (_, i) => record(i, 1));
    assert.equal([...joined(searchFile('ndjson', many, null))].length, 3);
    assert.equal(file('ndjson', null, many).split('\n').length, 2_501);
  });

  it('has a name for every file system', () => {
    assert.equal(safeName('search-198.51.100.0/24', 'csv'), 'search-198.51.100.0-24.csv');
    assert.equal(safeName('search-../a b\u202e<x>', 'json'), 'search-..-a-b-x-.json');
  });
});
