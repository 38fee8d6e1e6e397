import { type Static, type TProperties, Type } from 'typebox';
import { Timestamp } from './scalars.ts';

const withStatus = <Status extends TProperties[string]>(status: Status) =>
  Type.Object({
    ts: Timestamp,
    status,
    removal: Type.String({ description: 'Reason for removal; empty when there is none.' }),
    reporter: Type.String({ description: 'Nickname of the reporter.' }),
  });

/** A change in the life of a URL. */
export const Event = withStatus(Type.Enum(['added', 'removed', 'online', 'offline']));
export type Event = Static<typeof Event>;

/** What a URL is now. */
export const Status = withStatus(Type.Enum(['online', 'offline']));
export type Status = Static<typeof Status>;
