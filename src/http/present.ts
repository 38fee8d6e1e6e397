import type { Caller } from '../accounts/caller.ts';
import type { LimitsResponse } from '../contract/limits.ts';
import type { Payload as WirePayload } from '../contract/payload.ts';
import type { Event, Status } from '../contract/status.ts';
import type { UrlHistoryResponse, UrlLastResponse } from '../contract/url.ts';
import type { Counts } from '../core/quota.ts';
import { type Payload, STATUS_OF, type StatusEvent, type UrlHistory, type UrlLast } from '../core/records.ts';

export function presentEvent({ ts, kind, removal, reporter }: StatusEvent): Event {
  return { ts, status: kind, removal, reporter };
}

function presentStatus({ ts, kind, removal, reporter }: StatusEvent): Status {
  return { ts, status: STATUS_OF[kind], removal, reporter };
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

export function presentLast({ id, url, event, payload }: UrlLast): UrlLastResponse {
  return {
    id,
    url,
    status: event === null ? null : presentStatus(event),
    payload: payload === null ? null : presentPayload(payload),
  };
}

export function presentHistory({ id, url, events, payloads }: UrlHistory): UrlHistoryResponse {
  return { id, url, events: events.map(presentEvent), payloads: payloads.map(presentPayload) };
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
