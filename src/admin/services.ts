import type { Account, AccountStore } from '../accounts/store.ts';
import type { AuditStore } from '../audit/store.ts';
import type { NodeStore } from '../health/store.ts';
import type { UsageStore } from '../limits/store.ts';

/** What the endpoints of administrators need. */
export type AdminServices = {
  control: AccountStore &
    Pick<UsageStore, 'usage' | 'usageByDay' | 'monthUsage' | 'reportedTs'> &
    Pick<AuditStore, 'addAudit' | 'auditEntries'> &
    Pick<NodeStore, 'nodes'>;
  /** Unix seconds. */
  now(): number;
  /** The signing keys are in a file of the operator, not in the store. */
  hasKeyFile: boolean;
  /** Deletes what Redis has about a removed account. Null without Redis. */
  deleteAccountKeys: ((account: Pick<Account, 'sub' | 'usernameKey'>) => Promise<unknown>) | null;
  system: SystemState;
};

/** The state of this server and of what it uses. */
export type SystemState = {
  engine: 'sqlite' | 'postgres';
  /** Where the data is, without passwords. */
  place: string;
  /** Throws `not_ready` when the database cannot answer. */
  ready(): Promise<void>;
  /** Of the embedded store; null for PostgreSQL. */
  sizeBytes(): number | null;
  freeBytes(): number | null;
  hasFaults(): boolean;
  /** Null without Redis. */
  isRedisUp: (() => boolean) | null;
  limitsState(): 'shared' | 'local' | 'refused';
  /** The id of this process among the nodes. */
  node: string;
  hasNetworkTable: boolean;
};
