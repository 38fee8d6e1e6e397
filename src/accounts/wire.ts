import { IntegerOrNull, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';

const Username = Type.String({ description: 'The username of the account, usually an e-mail address.' });

/** Unlike the URL endpoints, login ignores unknown keys. */
export const LoginRequest = Type.Object({
  username: Username,
  password: Type.String(),
  realm: Type.String({ description: 'Always "intel".' }),
});
export type LoginRequest = Static<typeof LoginRequest>;

export const LoginResponse = Type.Object({
  code: Type.Literal(200),
  token: Type.String({ description: 'Send it in the header Authorization: Bearer, a space, and the token.' }),
  expires: Timestamp,
});
export type LoginResponse = Static<typeof LoginResponse>;

export const SessionLoginRequest = Type.Object({ username: Username, password: Type.String() });
export type SessionLoginRequest = Static<typeof SessionLoginRequest>;

export const SessionResponse = Type.Object({
  username: Type.String(),
  sub: Type.String({ description: 'Subscription number.' }),
  tier: Type.String(),
  admin: Type.Boolean({ description: 'Whether the account is an administrator.' }),
  version: Type.String({ description: 'The version of the server.' }),
  secure: Type.Boolean({
    description: 'Whether the request came by TLS or to a loopback name. Otherwise browsers drop the session cookie.',
  }),
  created_ts: IntegerOrNull,
  expires_ts: IntegerOrNull,
});
export type SessionResponse = Static<typeof SessionResponse>;

const SessionId = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const SessionsResponse = Type.Object({
  items: Type.Array(
    Type.Object({
      id: SessionId,
      created_ts: Timestamp,
      used_ts: Timestamp,
      address: Type.String({ description: 'The address of the browser at the login.' }),
      agent: Type.String({ description: 'The User-Agent header of the browser at the login.' }),
      current: Type.Boolean({ description: 'Whether this request uses the session.' }),
    }),
  ),
});
export type SessionsResponse = Static<typeof SessionsResponse>;

export const EndSessionsRequest = Type.Closed(
  { id: Type.Optional(SessionId), others: Type.Optional(Type.Literal(true)) },
  { minProperties: 1, maxProperties: 1 },
);
export type EndSessionsRequest = Static<typeof EndSessionsRequest>;

export const EndSessionsResponse = Type.Object({ ended: Type.Integer({ minimum: 0 }) });
export type EndSessionsResponse = Static<typeof EndSessionsResponse>;

export const PasswordRequest = Type.Closed({ current: Type.String(), new: Type.String() });
export type PasswordRequest = Static<typeof PasswordRequest>;

export const Empty = Type.Closed({});
