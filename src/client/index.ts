// The client for programs: `import { UrlwardenClient } from 'urlwarden/client'`. It uses nothing but fetch.
export type { BulkOptions } from './bulk.ts';
export {
  type AddressOptions,
  type CallOptions,
  type LimitOptions,
  UrlwardenClient,
  type WindowOptions,
} from './client.ts';
export {
  AuthenticationError,
  BadRequestError,
  ForbiddenError,
  LimitReachedError,
  TruncatedStreamError,
  UnavailableError,
  UrlwardenError,
} from './errors.ts';
export type { ClientOptions, LimitWait } from './transport.ts';
export type * from './types.ts';
