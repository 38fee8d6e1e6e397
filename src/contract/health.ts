import { type Static, Type } from 'typebox';
import { IntegerOrNull } from './scalars.ts';

export const Health = Type.Object({ status: Type.Literal('ok') });
export type Health = Static<typeof Health>;

const FeedHealth = Type.Object({
  name: Type.String(),
  state: Type.Enum(['ok', 'new', 'failing', 'stale', 'paused'], {
    description: 'new: not fetched yet. failing: tried again. stale: no success for three intervals.',
  }),
  last_success_ts: IntegerOrNull,
});

export const Readiness = Type.Object({
  status: Type.Literal('ok'),
  limits: Type.Optional(
    Type.Enum(['shared', 'local'], {
      description: 'With `verbose`, where there is a Redis: local while it is away and this server counts by itself.',
    }),
  ),
  feeds: Type.Optional(Type.Array(FeedHealth, { description: 'With `verbose`: how each feed is.' })),
});
export type Readiness = Static<typeof Readiness>;
