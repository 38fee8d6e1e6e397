import { type Static, Type } from 'typebox';
import { Timestamp } from '../http/scalars.ts';

/** Unlike the URL endpoints, login ignores unknown keys. */
export const LoginRequest = Type.Object({
  username: Type.String({ description: 'The username of the account, usually an e-mail address.' }),
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
