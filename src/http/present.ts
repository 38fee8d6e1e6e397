import type { Caller } from '../accounts/caller.ts';
import type { LimitsResponse } from '../contract/limits.ts';
import type { Payload as WirePayload } from '../contract/payload.ts';
import type { Event } from '../contract/status.ts';
import type { Counts } from '../core/quota.ts';
import type { Payload, StatusEvent } from '../core/records.ts';

export function presentEvent({ ts, kind, removal, reporter }: StatusEvent): Event {
  return { ts, status: kind, removal, reporter };
}

export function presentPayload(payload: Payload): WirePayload {
  return {
    ts: payload.ts,
    mime_type: payload.mimeType,
    file_type: payload.fileType,
    file_ext: payload.fileExt,
    file_size: payload.fileSize,
    file_name: payload.fileName,
    sha256_hash: payload.sha256,
    'malware-family': payload.family,
  };
}

export function presentLimits({ account, limits }: Caller, counts: Counts): LimitsResponse {
  return {
    status: 200,
    code: 200,
    account: { sub: account.sub, usr: account.username },
    limits: {
      ads: limits.ads.join(','),
      trs: limits.trs,
      qms: limits.qms,
      qmh: limits.qmh,
      rl_qph: limits.rlQph,
      rl_qpm: limits.rlQpm,
      rl_qps: limits.rlQps,
    },
    current: {
      qpm: counts.month,
      qpd: counts.day,
      rl_qph: counts.hour,
      rl_qpm: counts.minute,
      rl_qps: counts.second,
    },
  };
}
