import { DATASETS, NO_LIMIT } from '../core/tier.ts';
import { IntegerOrNull, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type Schema, type Static, Type } from '../http/schema.ts';

// The JSON of the endpoints of administrators.

export const ListOf = <Item extends Schema>(item: Item) => Type.Object({ items: Type.Array(item) });

const Count = Type.Integer({ minimum: 0 });

export const AccountItem = Type.Object({
  username: Type.String(),
  sub: Type.String({ description: 'The subscription number.' }),
  tier: Type.String(),
  enabled: Type.Boolean(),
  admin: Type.Boolean(),
  created_ts: Timestamp,
  queries_month: Count,
  queries_day: Count,
  soft: IntegerOrNull,
  hard: IntegerOrNull,
});
export type AccountItem = Static<typeof AccountItem>;

const Username = Type.String({ description: 'Usually an e-mail address; letter case does not matter.' });
const TierName = Type.String({ description: 'One of `tiers`.' });

export const AddAccountRequest = Type.Closed({
  username: Username,
  tier: Type.Optional(TierName),
  password: Type.Optional(Type.String({ description: 'Default: one is generated, and is in the response.' })),
  admin: Type.Optional(Type.Boolean()),
});
export type AddAccountRequest = Static<typeof AddAccountRequest>;

export const AddAccountResponse = Type.Object({
  account: AccountItem,
  password: Type.Unsafe<string | null>({
    ...StringOrNull,
    description: 'The generated password, which is in no later response; null if the request has one.',
  }),
});
export type AddAccountResponse = Static<typeof AddAccountResponse>;

export const ChangeAccountRequest = Type.Closed({
  tier: Type.Optional(TierName),
  enabled: Type.Optional(Type.Boolean()),
  admin: Type.Optional(Type.Boolean()),
  password: Type.Optional(Type.String({ description: 'Ends all sessions and tokens of the account.' })),
});
export type ChangeAccountRequest = Static<typeof ChangeAccountRequest>;

export const TierItem = Type.Object({
  name: Type.String(),
  built_in: Type.Boolean({ description: 'Cannot be changed or removed.' }),
  trs: Type.String({ description: 'Access level.' }),
  ads: Type.Array(Type.String(), { description: 'Datasets.' }),
  qms: Count,
  qmh: Count,
  rl_qps: Count,
  rl_qpm: Count,
  rl_qph: Count,
  accounts: Type.Integer({ minimum: 0, description: 'How many accounts have it.' }),
});
export type TierItem = Static<typeof TierItem>;

/** Far more than there are datasets. */
const DATASETS_MAX = 64;

const Monthly = Type.Integer({ minimum: 0, maximum: NO_LIMIT, description: `${NO_LIMIT}: no limit.` });
/** A rate of 0 looks like "no limit" but would refuse every query. */
const Rate = Type.Optional(Type.Integer({ minimum: 1, maximum: NO_LIMIT, description: 'Default: follows from qmh.' }));

export const SetTierRequest = Type.Closed({
  name: Type.String(),
  qms: Monthly,
  qmh: Monthly,
  trs: Type.Optional(Type.String()),
  ads: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: DATASETS_MAX,
      uniqueItems: true,
      description: `Some of ${DATASETS.join(', ')}, in any letter case. Default: all.`,
    }),
  ),
  rl_qps: Rate,
  rl_qpm: Rate,
  rl_qph: Rate,
});
export type SetTierRequest = Static<typeof SetTierRequest>;

export const KeysResponse = Type.Object({
  from_file: Type.Boolean({ description: 'The keys are in a file of the operator.' }),
  items: Type.Array(
    Type.Object({
      kid: Type.String(),
      created_ts: IntegerOrNull,
      signs: Type.Boolean({ description: 'Signs new tokens; the others only verify.' }),
    }),
  ),
});
export type KeysResponse = Static<typeof KeysResponse>;

export const RotateKeyRequest = Type.Closed({
  now: Type.Optional(Type.Boolean({ description: 'Drop all older keys: every token becomes invalid.' })),
});
export type RotateKeyRequest = Static<typeof RotateKeyRequest>;

export const AuditItem = Type.Object({
  id: Type.Integer(),
  ts: Timestamp,
  source: Type.String({ description: 'cli, server, page or api.' }),
  actor: Type.String(),
  origin: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  changes: Type.Object(
    {},
    { additionalProperties: true, description: 'By field: `old` and `new`; null for a value that did not exist.' },
  ),
});

export const UsageReportResponse = Type.Object({
  month: Type.String(),
  complete: Type.Boolean({ description: 'The month is over.' }),
  reported_ts: IntegerOrNull,
  queries: Count,
  accounts: Type.Array(
    Type.Object({
      sub: Type.String(),
      username: StringOrNull,
      tier: StringOrNull,
      removed_ts: IntegerOrNull,
      queries: Count,
      qms: IntegerOrNull,
      qmh: IntegerOrNull,
      soft_limit_passed: Type.Boolean(),
      hard_limit_reached: Type.Boolean(),
      days: Type.Array(Type.Object({ day: Type.String(), queries: Count })),
    }),
  ),
});
export type UsageReportResponse = Static<typeof UsageReportResponse>;

export const HealthResponse = Type.Object({
  store: Type.Object({
    engine: Type.Enum(['sqlite', 'postgres']),
    place: Type.String(),
    ready: Type.Boolean(),
    problem: StringOrNull,
    size_bytes: IntegerOrNull,
    free_bytes: IntegerOrNull,
    faults: Type.Boolean({ description: 'Rows were found that contradict each other.' }),
  }),
  redis: Type.Object({
    used: Type.Boolean(),
    up: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
    limits: Type.Enum(['shared', 'local', 'refused'], {
      description: 'Queries are counted in Redis, by this server alone, or refused.',
    }),
  }),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      name: Type.String(),
      version: Type.String(),
      started_ts: Timestamp,
      seen_ts: Timestamp,
      current: Type.Boolean({ description: 'The server that answers.' }),
    }),
  ),
  tables: Type.Object({ networks: Type.Boolean({ description: 'The table of networks is loaded.' }) }),
});
export type HealthResponse = Static<typeof HealthResponse>;
