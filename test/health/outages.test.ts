import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { createOutages } from '../../src/health/outages.ts';

const AWAY = new AppError('unavailable', 'PostgreSQL does not respond');
const DAMAGED = new AppError('damaged', 'intelligence.db is damaged');

/** A clock that the test moves, and the lines that were logged. */
function world() {
  let ms = 1_000_000;
  const lines: string[] = [];
  const line = (level: string) => (details: object, message: string) =>
    void lines.push(`${level}: ${message} ${JSON.stringify(details)}`);
  const outages = createOutages({ error: line('error'), warn: line('warn') }, () => ms);
  const seconds = (count: number, work: () => void = () => {}) => {
    for (let i = 0; i < count; i++) {
      ms += 1000;
      work();
      outages.update();
    }
  };
  return { outages, lines, seconds };
}

test('an outage is one line when it begins, one a minute with the failures, and one when it is over', () => {
  const { outages, lines, seconds } = world();
  for (let i = 0; i < 700; i++) assert.equal(outages.report(AWAY), true);
  const begin =
    'error: a database or service is unavailable; requests that need it get 503 until it is back {"reason":"PostgreSQL does not respond"}';
  assert.deepEqual(lines, [begin]);
  seconds(121, () => outages.report(AWAY));
  seconds(10);
  assert.deepEqual(lines, [
    begin,
    'error: the database or service is still unavailable {"failures":760,"seconds":60}',
    'error: the database or service is still unavailable {"failures":820,"seconds":120}',
    'warn: the database or service is back {"failures":821,"seconds":121}',
  ]);
  outages.report(AWAY);
  assert.equal(lines.length, 5, 'the next outage is logged again');
});

test('a database that fails now and then does not write two lines a second', () => {
  const { outages, lines, seconds } = world();
  for (let i = 0; i < 14; i++) {
    outages.report(AWAY);
    seconds(4);
  }
  assert.equal(lines.length, 1);
});

test('damage is logged beside an outage, and remembered after it', () => {
  const { outages, lines, seconds } = world();
  outages.report(AWAY);
  assert.equal(outages.isDamaged(), false);
  for (let i = 0; i < 100; i++) outages.report(DAMAGED);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /^error: the database is damaged; .* \{"reason":"intelligence\.db is damaged"\}$/);
  seconds(100);
  assert.equal(outages.isDamaged(), true);
});

test('a server that is not ready is logged in the same way', () => {
  const { outages, lines, seconds } = world();
  const full = new AppError('not_ready', 'The disk is full');
  seconds(10, () => outages.report(full));
  seconds(10);
  assert.deepEqual(lines, [
    'error: the server is not ready {"reason":"The disk is full"}',
    'warn: the server is ready again {"failures":10,"seconds":9}',
  ]);
});

test('other errors are left to the caller', () => {
  const { outages, lines } = world();
  for (const error of [new Error('bug'), new AppError('overloaded', 'busy'), new AppError('not_found', 'x'), null]) {
    assert.equal(outages.report(error), false);
  }
  assert.deepEqual(lines, []);
});
