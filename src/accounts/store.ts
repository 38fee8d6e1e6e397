import type { Tier } from '../core/tier.ts';

export type Account = {
  /** Eight digits; the subscription number that the API shows. */
  sub: string;
  username: string;
  /** The form in which usernames are compared (`manage.ts`). */
  usernameKey: string;
  /** In PHC format (`passwords.ts`). */
  passwordHash: string;
  tier: string;
  isEnabled: boolean;
  /** May change accounts, tiers, feeds and the rest by page and API (`access: 'administrator'`). */
  isAdmin: boolean;
  /** Raised by a new password and by revocation; tokens of an older generation are invalid. */
  generation: number;
  createdTs: number;
};

/** What is kept of a removed account while it has usage that was not reported yet. The limits are those at its removal. */
export type RemovedAccount = {
  sub: string;
  tier: string;
  /** Null if its tier did not exist. */
  limits: Pick<Tier, 'qms' | 'qmh'> | null;
  removedTs: number;
};

/** The store raises the generation itself: two callers that read it first and then write could raise it only once. */
export type AccountChange = Partial<Pick<Account, 'tier' | 'isEnabled' | 'isAdmin' | 'passwordHash'>> & {
  raisesGeneration?: true;
};

/** A key that signs tokens. The newest key signs; the older keys only verify. */
export type SigningKey = { kid: string; secret: Uint8Array; createdTs: number };

/**
 * Accounts, tiers and signing keys. Every change raises `version`, so that a process with a cached copy knows when to
 * read again. Throws an AppError `unavailable` when the database does not respond.
 */
export type AccountStore = {
  /** Grows with every change of accounts, tiers and keys by any process. Throws when the database was replaced. */
  version(): Promise<number>;

  /** Sorted by `usernameKey`. */
  accounts(): Promise<Account[]>;
  /** The same in pages: a server must not read all of them at once. */
  accountPages(): AsyncIterable<Account[]>;
  accountBySub(sub: string): Promise<Account | null>;
  accountByUsername(usernameKey: string): Promise<Account | null>;
  /**
   * False when the username or the sub is taken, also by a removed account. Throws an AppError `not_found` when the tier
   * does not exist.
   */
  addAccount(account: Account): Promise<boolean>;
  /**
   * False when the account does not exist. Throws an AppError: `not_found` when the tier does not exist, `bad_request`
   * when no enabled administrator would be left. A change that raises the generation deletes the sessions of the account.
   */
  changeAccount(sub: string, change: AccountChange): Promise<boolean>;
  /**
   * Its usage stays, under its sub; its keys of lists are deleted. False when the account does not exist. Throws an
   * AppError `bad_request` when no enabled administrator would be left.
   */
  removeAccount(sub: string, removedTs: number): Promise<boolean>;
  /** Sorted by sub. */
  removedAccounts(): Promise<RemovedAccount[]>;

  /** Tiers that an operator has set, sorted by name; the built-in tiers are in `core/tier.ts`. */
  tiers(): Promise<Tier[]>;
  putTier(tier: Tier): Promise<void>;
  /** Does not remove a tier that an account uses. */
  removeTier(name: string): Promise<'removed' | 'unknown' | 'in_use'>;

  /** The last added key first, regardless of `createdTs`. */
  keys(): Promise<SigningKey[]>;
  /**
   * Adds a key, which signs from now on, and drops the keys superseded before `keepSince`. A key is superseded at the
   * time at which the next key was created.
   */
  addKey(key: SigningKey, keepSince: number): Promise<void>;
  /** Adds the key when the store has none; returns the key that signs. Nodes that start together get the same key. */
  ensureKey(key: SigningKey): Promise<SigningKey>;
};

/** A login by page. */
export type Session = {
  /** SHA-256 of the cookie, 64 hexadecimal digits. */
  id: string;
  sub: string;
  /** That of the account at the login; another one ends the session. */
  generation: number;
  createdTs: number;
  /** Up to five minutes behind the last use. */
  usedTs: number;
  /** The address of the browser at the login, and its User-Agent header. */
  address: string;
  agent: string;
};

/** Bounds of `addSession`. Sessions used before `keepSince` have ended. */
export type SessionBounds = { keepSince: number; maxPerAccount: number; maxDeleted: number };

/** Sessions of pages. Writes to them do not raise `version`: every login would make all nodes read accounts again. */
export type SessionStore = {
  /** Those of these ids that exist, in any order. */
  findSessions(ids: readonly string[]): Promise<Session[]>;
  /** The last used first. */
  sessions(sub: string): Promise<Session[]>;
  /** Deletes sessions that have ended, and the longest unused of the account above its maximum. */
  addSession(session: Session, bounds: SessionBounds): Promise<void>;
  /** Has no effect if the session was used later, or does not exist. */
  touchSession(id: string, usedTs: number): Promise<void>;
  /** Deletes this session of the account, or with `others` all but this one; returns how many. */
  endSessions(sub: string, id: string, which: 'this' | 'others'): Promise<number>;
};
