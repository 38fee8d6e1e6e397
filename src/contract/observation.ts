import { type Static, type TSchema, Type } from 'typebox';
import { ASN_MAX, SHA256_PATTERN } from '../core/observation-paper.ts';
import { TEXT_MAX_LENGTH, TEXT_PATTERN } from '../core/text.ts';
import { MAX_INTEGER, Timestamp } from './scalars.ts';

const Text = Type.String({ maxLength: TEXT_MAX_LENGTH, pattern: TEXT_PATTERN });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const ToldPayload = Type.Object(
  {
    ts: Type.Optional(Timestamp),
    mime_type: orNull(Text),
    file_type: orNull(Text),
    file_ext: orNull(Text),
    file_size: orNull(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })),
    file_name: orNull(Text),
    sha256_hash: orNull(Type.String({ pattern: SHA256_PATTERN })),
    'malware-family': orNull(Text),
  },
  { additionalProperties: false, minProperties: 1, description: 'Its ts defaults to that of the observation.' },
);

/**
 * A line of an `ndjson` import or export. `core/observation-paper.ts` reads it and is held against this schema, which
 * leaves out only what depends on the clock.
 */
export const ObservationLine = Type.Object(
  {
    ts: Timestamp,
    url: Type.String({ description: 'Normalized on the way in.' }),
    status: Type.Optional(
      Type.Union([Type.Enum(['online', 'offline', 'removed']), Type.Null()], { default: 'online' }),
    ),
    removal: Type.Optional(Text),
    reporter: Type.Optional(Text),
    ip: Type.Optional(Type.Union([Text, Type.Array(Text)])),
    asn: Type.Optional(Type.Integer({ minimum: 0, maximum: ASN_MAX, description: 'Network of ip.' })),
    payload: Type.Optional(ToldPayload),
  },
  {
    additionalProperties: false,
    allOf: [
      {
        anyOf: [
          { properties: { status: { const: 'removed' } }, required: ['status'] },
          { properties: { removal: { const: '' } } },
        ],
      },
      {
        anyOf: [{ not: { required: ['asn'] } }, { properties: { ip: { minItems: 1, maxItems: 1 } }, required: ['ip'] }],
      },
    ],
  },
);
export type ObservationLine = Static<typeof ObservationLine>;
