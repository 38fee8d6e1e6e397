import type { AuditStore } from '../audit/store.ts';
import type { ChangeStore } from '../changes/store.ts';
import { badRequest } from '../core/errors.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';
import { textFault } from '../core/text.ts';
import { refangHost } from '../core/url/refang.ts';
import { Type } from '../http/schema.ts';
import { toNetwork } from '../ingest/evidence.ts';
import type { ReputationStore } from '../reputation/store.ts';

// What the routes for decisions by hand share: about domains, listings and the allow list.

export type ByHandServices = {
  store: ReputationStore & Pick<ChangeStore, 'currentListings'>;
  control: Pick<AuditStore, 'addAudit' | 'auditEntries'>;
  /** Unix seconds. */
  now(): number;
  /** Reserved networks can be listed. */
  allowReserved: boolean;
};

/** Of each list in a response: more than people set by hand and read on a page, and few enough for one statement. */
export const MAX_ITEMS = 500;
export const Truncated = Type.Boolean({ description: `There are more than ${MAX_ITEMS}.` });

const MAX_REASON = 1_000;
export const Reason = Type.String({ maxLength: MAX_REASON });

/** Also defanged, within the width of networks that can be listed. Host bits are cleared. */
export function readNetwork(text: string): KeyNetwork {
  const network = toNetwork(refangHost(text));
  if (typeof network !== 'string') return network;
  throw badRequest(`"cidr" must be like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32. ${network}`);
}

export function readReason(text: string): string {
  const fault = textFault(text);
  if (fault !== null) throw badRequest(`"reason": ${fault}`);
  return text;
}
