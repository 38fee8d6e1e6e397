import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError, type ErrorCode } from '../../src/core/errors.ts';
import type { Charging } from '../../src/http/dispatch.ts';
import { NDJSON } from '../../src/http/ndjson.ts';
import { NOW } from './build.ts';
import { CUSTOM_PATH, customRoute, serverWith } from './custom-route.ts';

type Step = 'read' | 'charge' | 'call' | 'open' | 'respond' | 'refund' | 'close';

type Scenario = {
  kind: 'query' | 'stream' | 'steps' | 'call' | 'none';
  /** The step that throws, and its error. */
  fails?: [step: Step, error: ErrorCode | 'defect'];
  status: number;
  /** The expected steps, in order. */
  steps: string;
};

const SCENARIOS: Scenario[] = [
  { kind: 'query', status: 200, steps: 'read charge respond' },
  { kind: 'query', fails: ['read', 'bad_request'], status: 400, steps: 'read' },
  { kind: 'query', fails: ['charge', 'limit_reached'], status: 429, steps: 'read charge' },
  { kind: 'query', fails: ['respond', 'bad_request'], status: 400, steps: 'read charge respond' },
  { kind: 'query', fails: ['respond', 'not_found'], status: 404, steps: 'read charge respond' },
  { kind: 'query', fails: ['respond', 'timed_out'], status: 408, steps: 'read charge respond refund' },
  { kind: 'query', fails: ['respond', 'unavailable'], status: 503, steps: 'read charge respond refund' },
  { kind: 'query', fails: ['respond', 'defect'], status: 500, steps: 'read charge respond refund' },
  { kind: 'stream', status: 200, steps: 'read open charge respond close' },
  { kind: 'stream', fails: ['read', 'bad_request'], status: 400, steps: 'read' },
  { kind: 'stream', fails: ['open', 'limit_reached'], status: 429, steps: 'read open' },
  { kind: 'stream', fails: ['charge', 'limit_reached'], status: 429, steps: 'read open charge close' },
  { kind: 'stream', fails: ['respond', 'not_found'], status: 404, steps: 'read open charge respond close' },
  { kind: 'stream', fails: ['respond', 'defect'], status: 500, steps: 'read open charge respond refund close' },
  { kind: 'steps', status: 200, steps: 'read open charge respond close' },
  { kind: 'steps', fails: ['read', 'bad_request'], status: 400, steps: 'read' },
  { kind: 'steps', fails: ['open', 'limit_reached'], status: 429, steps: 'read open' },
  { kind: 'steps', fails: ['charge', 'limit_reached'], status: 429, steps: 'read open charge close' },
  { kind: 'steps', fails: ['respond', 'defect'], status: 500, steps: 'read open charge respond close' },
  { kind: 'call', status: 200, steps: 'read call respond' },
  { kind: 'call', fails: ['read', 'bad_request'], status: 400, steps: 'read' },
  { kind: 'call', fails: ['call', 'limit_reached'], status: 429, steps: 'read call' },
  { kind: 'call', fails: ['respond', 'defect'], status: 500, steps: 'read call respond' },
  { kind: 'none', status: 200, steps: 'read respond' },
];

const QUERY = { weight: 7 };
const CHARGE = { sub: '10000000', weight: 7, ts: NOW };

const errorOf = (code: ErrorCode | 'defect') => (code === 'defect' ? new Error(code) : new AppError(code, 'refused'));

/** Charging that records its calls as steps. */
function recordedCharging(step: (name: Step) => void): Charging {
  return {
    async chargeQuery(_exchange, weight) {
      step('charge');
      return { ...CHARGE, weight };
    },
    async chargeStep(_exchange, wanted) {
      step('charge');
      return { ...CHARGE, weight: wanted };
    },
    async refund(charge) {
      assert.deepEqual(charge, CHARGE);
      step('refund');
    },
    chargeCall: async () => step('call'),
    async openStream() {
      step('open');
      return () => step('close');
    },
  };
}

describe('the order of reading, charging and responding', () => {
  for (const { kind, fails, status, steps } of SCENARIOS) {
    test(`${kind}, ${fails ? `${fails[1]} in ${fails[0]}` : 'success'}: ${steps}`, async (t) => {
      const seen: Step[] = [];
      const step = (name: Step) => {
        seen.push(name);
        if (fails?.[0] === name) throw errorOf(fails[1]);
      };
      const route = customRoute(
        {
          response: { contentType: kind === 'stream' ? NDJSON : 'text/plain' },
          read() {
            step('read');
            return QUERY;
          },
          weight: (query) => (query as typeof QUERY).weight,
          async respond(query, exchange, _options, charging) {
            assert.equal(query, QUERY);
            if (kind === 'steps') await charging.chargeStep(exchange, 1);
            step('respond');
            return 'ok';
          },
        },
        { access: 'account', charge: kind === 'stream' ? 'query' : kind },
      );
      const app = await serverWith(t, route, { charging: recordedCharging(step) });
      const response = await app.inject(CUSTOM_PATH);
      assert.equal(response.statusCode, status, response.body);
      assert.equal(seen.join(' '), steps);
    });
  }
});
