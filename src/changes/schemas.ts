import { IntegerOrNull, StringOrNull, Timestamp, UrlId } from '../http/scalars.ts';
import { Type } from '../http/schema.ts';
import { CHANGE_KINDS, CHANGE_OPERATIONS } from './store.ts';

const Status = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  properties: { ts: Timestamp, status: Type.String(), removal: Type.String(), reporter: Type.String() },
  description: 'The last status of a URL.',
});

const Payload = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  properties: { ts: IntegerOrNull, sha256_hash: StringOrNull, 'malware-family': StringOrNull },
  description: 'The last payload of a URL.',
});

/** A line of the change feed. */
export const ChangeRecord = Type.Object({
  seq: Type.Integer({ description: 'The number of the change, and the cursor after it.' }),
  ts: Timestamp,
  op: Type.Enum(CHANGE_OPERATIONS),
  kind: Type.Enum(CHANGE_KINDS),
  key: Type.String({ description: 'The URL; dataset|network|source|family|port of a listing; the domain.' }),
  id: Type.Optional(UrlId),
  status: Type.Optional(Status),
  payload: Type.Optional(Payload),
  dataset: Type.Optional(Type.String()),
  ipaddress: Type.Optional(Type.String({ description: 'The address or network of a listing.' })),
  source: Type.Optional(Type.String()),
  botname: Type.Optional(Type.String()),
  dstport: Type.Optional(Type.Integer()),
  valid_until: Type.Optional(Timestamp),
  'is-listed': Type.Optional(Type.Boolean()),
  'listed-until': Type.Optional(Timestamp),
});
