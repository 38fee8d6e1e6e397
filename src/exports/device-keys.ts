import { AppError } from '../core/errors.ts';
import type { Caller } from '../http/endpoint.ts';
import { isListKey, keyHash } from './keys.ts';
import type { ListStore } from './store.ts';

// Keys with which devices fetch lists: as password, as Bearer token, or in the path.

/** `keyId`: of the key that was sent; absent for a token or a session. */
export type DeviceCaller = Caller & { keyId?: number };

/** A device that has sent no key. */
export const NO_KEY = '';

/** The key in an Authorization header: a Bearer token, or the password of Basic with any user name. Null: it has another token. */
export function keyOfHeader(authorization: string | undefined): string | null {
  const [, scheme, credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (scheme === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return isListKey(credentials) ? credentials : null;
  const text = Buffer.from(credentials, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

type DeviceKeysOptions = {
  store: Pick<ListStore, 'findListKey'>;
  /** The caller of an account; null if it does not exist. Throws `forbidden` if it is disabled. */
  callerOfAccount(sub: string): Promise<Caller | null>;
};

/** Finds the caller of a key of a list. It throws `unauthorized` or `forbidden`. */
export function createDeviceKeys({ store, callerOfAccount }: DeviceKeysOptions) {
  return async (key: string, list: string): Promise<DeviceCaller> => {
    if (key === NO_KEY) throw keyMissing();
    const found = isListKey(key) ? await store.findListKey(keyHash(key)) : null;
    if (found === null) throw keyInvalid();
    if (found.list !== list) throw new AppError('forbidden', 'This key is for another list');
    const caller = await callerOfAccount(found.sub);
    if (caller === null) throw keyInvalid();
    return { ...caller, keyId: found.id };
  };
}

function keyInvalid(): AppError {
  return unauthorized('The key of the list is unknown or revoked; ask who gave it to you for another one');
}

function keyMissing(): AppError {
  return unauthorized('Send a key of the list as password or as Bearer token, or the token that login returned');
}

/** Some devices send their password only when they are asked for it. */
const unauthorized = (message: string): AppError =>
  new AppError('unauthorized', message, { challenge: 'Bearer, Basic realm="lists"' });
