/** What can be in the audit log. The word before the dot is the kind of the subject. */
export const AUDIT_ACTIONS = [
  'account.add',
  'account.set',
  'account.disable',
  'account.enable',
  'account.passwd',
  'account.revoke',
  'account.remove',
  'account.sign-out',
  'account.soft-limit',
  'tier.set',
  'tier.remove',
  'key.add',
  'key.rotate',
  'feed.add',
  'feed.set',
  'feed.pause',
  'feed.resume',
  'feed.remove',
  'listing.add',
  'listing.remove',
  'allow.add',
  'allow.remove',
  'domain.set',
  'list.add',
  'list.set',
  'list.remove',
  'exclusion.add',
  'exclusion.remove',
  'list-key.add',
  'list-key.remove',
  'audit.clean-up',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The words before the dots, each once. */
export const AUDIT_KINDS = [...new Set(AUDIT_ACTIONS.map((action) => action.replace(/\..*/, '')))];

/** Who made a change, and from where. */
export type Actor = {
  /** `cli`: a command. `server`: the server itself. `page`: a person in a browser. `api`: a request with a token. */
  source: 'cli' | 'server' | 'page' | 'api';
  /** The user of the operating system, the account, or `server`. */
  name: string;
  /** The name of the machine; for a page and the API, the address of the client. */
  origin: string;
};

type Value = string | number | boolean | null | readonly string[];

/** The values of a thing that may be shown: never a password, a hash or a secret. */
export type Fields = Readonly<Record<string, Value | undefined>>;

/** The changed fields; null for a value that did not exist, or no longer exists. */
export type Changes = Readonly<Record<string, { old: Value; new: Value }>>;

/** A change that somebody has made. Fields that are equal before and after are left out of the audit log. */
export type Change = { action: AuditAction; subject: string; before?: Fields; after?: Fields };

export type NewAuditEntry = { ts: number; actor: Actor; action: AuditAction; subject: string; changes: Changes };

export function entryOf(actor: Actor, { action, subject, before = {}, after = {} }: Change, ts: number): NewAuditEntry {
  return { ts, actor, action, subject, changes: changesOf(before, after) };
}

export function changesOf(before: Fields, after: Fields): Changes {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const pairs = names.map((name) => [name, { old: before[name] ?? null, new: after[name] ?? null }] as const);
  return Object.fromEntries(pairs.filter(([, { old, new: value }]) => JSON.stringify(old) !== JSON.stringify(value)));
}
