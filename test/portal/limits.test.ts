import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_LIMIT } from '../../portal/format.ts';
import { fitText, type Limits, leftText, reachedText } from '../../portal/limits.ts';

const limits = (more: Partial<Limits['limits']>, used: Partial<Limits['current']> = {}): Limits => ({
  limits: {
    ads: '',
    trs: '',
    qms: NO_LIMIT,
    qmh: NO_LIMIT,
    rl_qph: NO_LIMIT,
    rl_qpm: NO_LIMIT,
    rl_qps: NO_LIMIT,
    ...more,
  },
  current: { qpm: 0, qpd: 0, rl_qph: 0, rl_qpm: 0, rl_qps: 0, ...used },
});

const FITS: { cost: number; response: Limits; text: RegExp | null }[] = [
  { cost: 9_999, response: limits({}), text: null },
  { cost: 100, response: limits({ qmh: 1_000, rl_qpm: 100 }, { qpm: 900 }), text: null },
  {
    cost: 101,
    response: limits({ qmh: 1_000 }, { qpm: 900 }),
    text: /^It stops after 100 URLs: that is what is left this month\.$/,
  },
  { cost: 5, response: limits({ qmh: 10 }, { qpm: 12 }), text: /^Nothing is left this month\.$/ },
  {
    cost: 1_000,
    response: limits({ rl_qpm: 100 }, { rl_qpm: 50 }),
    text: /after 50 URLs.*this minute.*about 10 minutes\.$/,
  },
  { cost: 1_000, response: limits({ rl_qph: 500, rl_qpm: 100 }), text: /after 100 URLs.*this minute.*about 1 hour\.$/ },
  { cost: 1_000, response: limits({ rl_qph: 500, rl_qpm: 500 }), text: /after 500 URLs.*this hour.*about 1 hour\.$/ },
  {
    cost: 200,
    response: limits({ qmh: 1_000, rl_qpm: 200 }, { qpm: 806, rl_qpm: 34 }),
    text: /after 166 URLs: that is what is left this minute\. .*but this month has room for only 194\.$/,
  },
  {
    cost: 1_000,
    response: limits({ rl_qps: 5 }),
    text: /^It takes about 3 minutes: your limit is 5 queries a second\.$/,
  },
  { cost: 40, response: limits({ rl_qps: 1 }), text: /: your limit is 1 query a second\.$/ },
  { cost: 40, response: limits({ rl_qps: 5 }), text: null },
];

describe('what the limits say about a list', () => {
  it('where it stops, and how long it takes', () => {
    for (const { cost, response, text } of FITS) {
      const said = fitText(cost, response);
      if (text === null) assert.equal(said, null);
      else assert.match(said ?? '', text);
    }
  });

  it('what is left', () => {
    assert.equal(leftText(limits({})), null);
    assert.equal(
      leftText(limits({ qmh: 2_000, rl_qpm: 60 }, { qpm: 500, rl_qpm: 70 })),
      '1,500 left this month, 0 left this minute',
    );
  });
});

/** What the server says, and what the page says. */
const REACHED: [message: string, text: string][] = [
  [
    'The limit qmh is reached (5000 per month); try again in 1139378 s, at 2026-12-01T00:00:00Z',
    'Your limit is used up this month.',
  ],
  ['The limit rl_qps is reached (5 per second); try again in 1 s, at x', 'Your limit is used up this second.'],
  ['The limit new is reached', 'Your limit is used up.'],
  [
    'The limit streams is reached (8 open at a time); read or close one first',
    'Your account has as many results open as it may. Wait until one of them is complete.',
  ],
  ['Too many failed logins; try again in 30 s, at 2026-11-17T10:00:00Z', 'Too many failed logins.'],
  ['Hourly limit', 'Hourly limit'],
];

describe('a limit that is reached', () => {
  it('is said in words, without the time', () => {
    for (const [message, text] of REACHED) assert.equal(reachedText(message), text);
  });
});
