import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../src/cli/progress.ts';

function shown(isTTY: boolean, columns = 200) {
  let [text, nowMs] = ['', 0];
  const output = { isTTY, columns, write: (piece: string) => (text += piece) };
  const progress = createProgress(output, () => nowMs);
  return {
    ...progress,
    at(ms: number, rows: number, totalBytes: number | null = 1_000, rejected = 0): string {
      [text, nowMs] = ['', ms];
      progress.show({ rows, rejected, readBytes: rows, totalBytes, seconds: ms / 1000 });
      return text;
    },
    waitingAt(ms: number): string {
      [text, nowMs] = ['', ms];
      progress.showWaiting({ reason: 'PostgreSQL does not respond', seconds: ms / 1000 - 10 });
      return text;
    },
    stepAt(ms: number, share: number, step: string, isLong?: boolean): string {
      [text, nowMs] = ['', ms];
      progress.showStep(share, step, isLong);
      return text;
    },
    end(): string {
      text = '';
      progress.end();
      return text;
    },
  };
}

test('on a terminal the line is redrawn at most ten times a second', () => {
  const { at, end } = shown(true);
  assert.equal(at(1_000, 250), '\r\u001b[K[######------------------] 250 rows, 250/s, 25 %, 0:03 left');
  assert.equal(at(1_099, 260), '');
  assert.equal(
    at(1_100, 275, 1_000, 2),
    '\r\u001b[K[######------------------] 275 rows, 250/s, 2 rejected, 27 %, 0:02 left',
  );
  assert.equal(at(2_000, 1_234_567, null), '\r\u001b[K1,234,567 rows, 617,284/s');
  assert.equal(at(1_000_000, 2_000, 20_000_000), '\r\u001b[K[------------------------] 2,000 rows, 2/s, 0 %');
  assert.equal(at(2_000_000, 200, 1_000), '\r\u001b[K[####--------------------] 200 rows, 0/s, 20 %, 2:13:20 left');
  assert.equal(end(), '\r\u001b[K');
  assert.equal(end(), '');
});

test('a wait for the database is shown at once, and then as often as progress', () => {
  const terminal = shown(true);
  terminal.at(10_990, 250);
  const waiting = 'Waiting for the database, 0:01. PostgreSQL does not respond';
  assert.equal(terminal.waitingAt(11_000), `\r\u001b[K${waiting}`);
  assert.equal(terminal.waitingAt(11_099), '');
  assert.equal(terminal.waitingAt(11_100), `\r\u001b[K${waiting}`);
  const log = shown(false);
  log.at(10_990, 250);
  assert.equal(log.waitingAt(11_000), `${waiting}\n`);
  assert.equal(log.waitingAt(20_999), '');
  assert.match(log.waitingAt(21_000), /, 0:11\./);
  assert.match(log.at(31_000, 900), /^900 rows/);
  assert.match(log.waitingAt(31_001), /^Waiting/);
});

test('the line is cut to the width of the terminal', () => {
  assert.equal(shown(true, 20).at(1_000, 250), '\r\u001b[K250 rows, 250/s, 25');
  assert.equal(shown(true, 40).at(1_000, 250), '\r\u001b[K[#---] 250 rows, 250/s, 25 %, 0:03 left');
});

test('a terminal without a known width has 80 columns', () => {
  assert.match(shown(true, 0).at(1_000, 250), /] 250 rows, 250\/s, 25 %, 0:03 left$/);
});

test('without a terminal there is a plain line every ten seconds', () => {
  const { at, end } = shown(false);
  assert.equal(at(9_999, 100), '');
  assert.equal(at(10_000, 500), '500 rows, 50/s, 50 %, 0:10 left\n');
  assert.equal(at(19_000, 900), '');
  assert.equal(at(20_000, 1_000), '1,000 rows, 50/s, 100 %, 0:00 left\n');
  assert.equal(end(), '');
});

test('a step has a share and a text; one that takes long is shown on a terminal in any case', () => {
  const { stepAt, end } = shown(true);
  assert.equal(stepAt(1_000, 0.5, 'events'), '\r\u001b[K[############------------] events');
  assert.equal(stepAt(1_001, 0.5, 'files'), '');
  assert.equal(stepAt(1_002, 0.75, 'urls', true), '\r\u001b[K[##################------] urls');
  assert.equal(end(), '\r\u001b[K');
  const log = shown(false);
  assert.equal(log.stepAt(9_999, 0.5, 'events', true), '');
  assert.equal(log.stepAt(10_000, 0.5, 'events'), 'events\n');
});
