import { type Static, Type } from 'typebox';
import { Timestamp, UrlId } from './scalars.ts';

/** Only the types stand here: what a good address, host or hash is, `core/search-key.ts` decides. */
export const SearchRequest = Type.Object(
  {
    ip: Type.Optional(Type.String({ description: 'IPv4 or IPv6 address, or CIDR.' })),
    host: Type.Optional(Type.String({ description: 'Hostname or IP literal; exact match, no subdomains.' })),
    asn: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        description: '0 to 4294967295, as a number or a string, with or without a leading AS.',
      }),
    ),
    malware_family: Type.Optional(Type.String({ description: '1 to 128 characters, in any case.' })),
    sha256: Type.Optional(Type.String({ description: '64 hexadecimal characters, in any case.' })),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);
export type SearchRequest = Static<typeof SearchRequest>;

export const SearchRecord = Type.Object({ ts: Timestamp, id: UrlId, url: Type.String() });
export type SearchRecord = Static<typeof SearchRecord>;
