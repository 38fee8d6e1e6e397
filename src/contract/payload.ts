import { type Static, Type } from 'typebox';
import { IntegerOrNull, StringOrNull, Timestamp } from './scalars.ts';

/** A file that a URL served. All eight keys are always there; null is what nobody has told. */
export const Payload = Type.Object({
  ts: Timestamp,
  mime_type: StringOrNull,
  file_type: StringOrNull,
  file_ext: StringOrNull,
  file_size: IntegerOrNull,
  file_name: StringOrNull,
  sha256_hash: StringOrNull,
  'malware-family': StringOrNull,
});
export type Payload = Static<typeof Payload>;
