import assert from 'node:assert/strict';
import { parseIp } from '../../src/core/ip/address.ts';
import { EMPTY_STATE } from '../../src/reputation/domain-rows.ts';
import type { DomainState, StoredEvidence } from '../../src/reputation/store.ts';

/** 2026-01-01T00:00:00Z */
export const NOW = 1_767_225_600;
export const DAY = 86_400;

/** A domain without any data, with these changes. */
export const stateOf = (rest: Partial<DomainState> = {}): DomainState => ({
  ...EMPTY_STATE,
  id: 1,
  name: 'site.example',
  ...rest,
});

export const sourceOf = (name: string, trustPermille = 900) => ({
  name,
  trustPermille,
  lifeSeconds: null,
  intervalSeconds: null,
});

export const evidenceOf = (rest: Partial<StoredEvidence> = {}): StoredEvidence => ({
  source: sourceOf('a feed'),
  kind: 'malware',
  hostname: 'site.example',
  bestTs: NOW,
  bestConfidence: 100,
  firstTs: NOW,
  lastTs: NOW,
  botname: null,
  isAbused: null,
  tags: [],
  ...rest,
});

export const ipOf = (text: string): Uint8Array => parseIp(text) ?? assert.fail(text);
