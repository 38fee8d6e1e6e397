import { type Static, Type } from 'typebox';

/** The body of every error, whichever layer found it. `code` is the HTTP status. */
export const ErrorBody = Type.Object({ code: Type.Integer(), message: Type.String() });
export type ErrorBody = Static<typeof ErrorBody>;
