import type { Tier } from '../core/tier.ts';

/** Who may ask. `usernameKey` is what usernames are compared by (`username.ts`). */
export type Account = {
  /** Eight digits; the subscription identifier that the account sees. */
  sub: string;
  username: string;
  usernameKey: string;
  /** As `accounts/passwords.ts` writes it. */
  passwordHash: string;
  tier: string;
  isEnabled: boolean;
  /** Raised by a new password and by revocation; tokens of an older generation are void. */
  generation: number;
  createdTs: number;
};

/** The generation is raised inside the store: two who read it first would raise it once. */
export type AccountChange = Partial<Pick<Account, 'tier' | 'isEnabled' | 'passwordHash'>> & { raisesGeneration?: true };

/** A key that signs tokens. The newest one signs; the others verify what they signed before. */
export type SigningKey = { kid: string; secret: Uint8Array; createdTs: number };

/**
 * Accounts, tiers and signing keys. Every change raises `version`, so that a process that keeps a copy knows when to read
 * again. Throws an AppError `unavailable` when the database does not answer.
 */
export type AccountStore = {
  /** Grows with every change of accounts, tiers and keys, by whatever process. Throws when the data was replaced. */
  version(): Promise<number>;

  /** In the order of their usernames. */
  accounts(): Promise<Account[]>;
  accountBySub(sub: string): Promise<Account | null>;
  accountByUsername(usernameKey: string): Promise<Account | null>;
  /** False when the username or the sub is taken. Throws an AppError `not_found` when there is no such tier. */
  addAccount(account: Account): Promise<boolean>;
  /** False when there is no such account. Throws an AppError `not_found` when there is no such tier. */
  changeAccount(sub: string, change: AccountChange): Promise<boolean>;
  /** With its usage. False when there is no such account. */
  removeAccount(sub: string): Promise<boolean>;

  /** Tiers that an operator has set, by name; the built-in ones are in `core/tier.ts`. */
  tiers(): Promise<Tier[]>;
  putTier(tier: Tier): Promise<void>;
  /** A tier that an account has stays. */
  removeTier(name: string): Promise<'removed' | 'unknown' | 'in_use'>;

  /** The one that was added last comes first, whatever the clocks said. */
  keys(): Promise<SigningKey[]>;
  /**
   * Adds a key, which signs from now on, and drops those superseded before `keepSince`: a key is superseded when the
   * one after it was created.
   */
  addKey(key: SigningKey, keepSince: number): Promise<void>;
  /** Adds the key when there is none, and gives the one that signs: nodes that start together end with the same. */
  ensureKey(key: SigningKey): Promise<SigningKey>;
};
