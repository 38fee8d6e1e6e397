import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dimensionBars, domainVerdict, pointsText, reasonParts } from '../../portal/score.ts';

const NOW = Date.UTC(2026, 10, 10) / 1_000;

test('points have a sign', () => {
  assert.deepEqual([-18.1, -0.5, 0.5, 3.84, 0, -0.01].map(pointsText), ['−18.1', '−0.5', '+0.5', '+3.8', '0.0', '0.0']);
});

test('all bars have one scale, and the longest fits', () => {
  const shares = (dimensions: Record<string, number>) => dimensionBars(dimensions).map(({ share }) => share);
  assert.deepEqual(shares({ malware: -20, infra: -10 }), [0.5, 0.25, 0, 0, 0]);
  assert.deepEqual(shares({ malware: -20, human: 50 }), [0.4, 0, 0, 0, 1]);
});

test('the verdict of a domain', () => {
  const reason = { dimension: 'malware', points: -12, text: '', feed: 'abuse', ts: NOW };
  const nothing = { known: true, listed: false, abused: false, listed_until_ts: null, evidence_ts: NOW, reasons: [] };
  const evidence = { evidence_ts: NOW - 2_400, reasons: [reason] };
  assert.equal(domainVerdict({ ...nothing, known: false }, NOW).state, 'unknown');
  assert.deepEqual(domainVerdict(nothing, NOW), { state: 'known', text: 'no evidence against it' });
  assert.deepEqual(domainVerdict({ ...nothing, ...evidence, listed: true, listed_until_ts: NOW + 86_400 }, NOW), {
    state: 'listed',
    text: 'until 11 Nov 2026 unless it is seen again, newest evidence 40 minutes ago',
  });
  // The operator can list an abused site.
  assert.equal(domainVerdict({ ...nothing, listed: true, abused: true }, NOW).state, 'listed');
  assert.match(domainVerdict({ ...nothing, ...evidence, abused: true }, NOW).text, /misused.*40 minutes ago/);
  assert.deepEqual(domainVerdict({ ...nothing, ...evidence }, NOW), {
    state: 'known',
    text: 'newest evidence 40 minutes ago',
  });
  // A popular site that nobody misused.
  assert.equal(domainVerdict({ ...nothing, abused: true }, NOW).state, 'known');
});

test('a reason without its source and its weight', () => {
  assert.deepEqual(
    reasonParts('abuse: names a.example, last on 2026-11-01. Weight 1.12 after its age, trust 0.9', 'abuse'),
    {
      text: 'Names a.example, last on 2026-11-01',
      weight: 'weight 1.12 after its age, trust 0.9',
    },
  );
  assert.deepEqual(reasonParts('Rank 7 in the list', 'abuse'), { text: 'Rank 7 in the list', weight: null });
});
