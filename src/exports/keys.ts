import { hash, randomBytes } from 'node:crypto';
import { requireAccount } from '../accounts/manage.ts';
import type { AccountStore } from '../accounts/store.ts';
import { requireTier } from '../accounts/tiers.ts';
import { AppError, badRequest } from '../core/errors.ts';
import { textFault } from '../core/text.ts';
import { missingDataset } from './datasets.ts';
import { requireList } from './manage.ts';
import type { ListDefinition, ListKey, ListStore } from './store.ts';

// Keys with which devices fetch a list. Only their hashes are stored.

/** Distinguishes a key from other secrets, for people and for programs that look for leaked ones. */
export const KEY_PREFIX = 'uwk_';
/** 160 bits. Hexadecimal, so that a double click selects it and no program has to escape it. */
const KEY_BYTES = 20;
const KEY = new RegExp(`^${KEY_PREFIX}[0-9a-f]{${2 * KEY_BYTES}}$`);

/** As many devices as one account manages by hand or by a script; the pages show all of them. */
export const MAX_KEYS_PER_ACCOUNT = 1_000;

export function isListKey(text: string): boolean {
  return KEY.test(text);
}

/** For `findListKey`. */
export function keyHash(key: string): Uint8Array {
  return hash('sha256', key, 'buffer');
}

/** `key` is shown once. */
type MadeKey = { key: string; made: ListKey };

type NewKey = {
  list: string;
  /** The name of the device, for people. */
  device: string;
  /** The account whose limits count. */
  sub: string;
};

export async function makeListKey(
  store: Pick<ListStore, 'listDefinitions' | 'listKeys' | 'addListKey'>,
  { list, device, sub }: NewKey,
  nowTs: number,
  requireDatasets: (definition: ListDefinition) => void = () => {},
): Promise<MadeKey> {
  if (device.trim() === '') throw badRequest('The name of the device is missing');
  const fault = textFault(device);
  if (fault !== null) throw badRequest(`The name of the device: ${fault}`);
  const definition = await requireList(store, list);
  requireDatasets(definition);
  if ((await store.listKeys({ sub, limit: MAX_KEYS_PER_ACCOUNT })).length >= MAX_KEYS_PER_ACCOUNT) {
    throw badRequest(`The account has ${MAX_KEYS_PER_ACCOUNT} keys already: revoke some first`);
  }
  const key = `${KEY_PREFIX}${randomBytes(KEY_BYTES).toString('hex')}`;
  const added = { list, device, sub, createdTs: nowTs };
  const id = await store.addListKey(added, keyHash(key));
  return { key, made: { id, ...added, lastFetch: null } };
}

/** For an account that an operator names. */
export async function makeListKeyFor(
  store: Parameters<typeof makeListKey>[0] & Pick<AccountStore, 'accountByUsername' | 'tiers'>,
  given: string,
  key: Omit<NewKey, 'sub'>,
  nowTs: number,
): Promise<MadeKey & { username: string }> {
  const { sub, username, tier } = await requireAccount(store, given);
  const { ads } = await requireTier(store, tier);
  const made = await makeListKey(store, { ...key, sub }, nowTs, (definition) => {
    const missing = missingDataset(ads, definition);
    if (missing === undefined) return;
    const problem = `The tier ${tier} of ${username} lacks the dataset ${missing}, which the list ${key.list} needs`;
    throw new AppError('conflict', `${problem}: change the tier, or choose another account`);
  });
  return { ...made, username };
}

/** With `sub`, only a key of this account. */
export async function revokeListKey(
  store: Pick<ListStore, 'listKey' | 'removeListKey'>,
  id: number,
  sub: string | null = null,
): Promise<ListKey> {
  const key = await store.listKey(id);
  const isFound = key !== null && (sub === null || key.sub === sub);
  if (isFound && (await store.removeListKey(id))) return key;
  throw new AppError('not_found', `There is no key with the id ${id}`);
}

/** The names of the accounts of these keys; a removed one has none. */
export async function accountNames(
  store: Pick<AccountStore, 'accountBySub'>,
  keys: readonly ListKey[],
): Promise<ReadonlyMap<string, string>> {
  const subs = [...new Set(keys.map(({ sub }) => sub))];
  const accounts = await Promise.all(subs.map((sub) => store.accountBySub(sub)));
  return new Map(accounts.flatMap((account) => (account === null ? [] : [[account.sub, account.username] as const])));
}

/** For the audit log, whose subject is the list. */
export function keyFields({ id, device }: ListKey, username: string | null) {
  return { key_id: id, device, account: username };
}
