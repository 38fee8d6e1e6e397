import type { Database } from '../../database/postgres/database.ts';
import { type SessionRow, toSession, toSessionRow } from '../rows.ts';
import type { SessionStore } from '../store.ts';

const SESSIONS = `
  select encode(id_hash, 'hex'), sub, generation, created_ts, used_ts, address, agent from sessions`;

const BY_ID = `${SESSIONS} where id_hash in (select decode(id, 'hex') from unnest($1::text[]) as id)`;

const BY_SUB = `${SESSIONS} where sub = $1 order by used_ts desc, created_ts desc, id_hash`;

const ADD = `
  insert into sessions (id_hash, sub, generation, created_ts, used_ts, address, agent)
  values (decode($1, 'hex'), $2, $3, $4, $5, $6, $7)`;

/** Skips rows that another login deletes: they need not be waited for, and two logins cannot deadlock. */
const DELETE_ENDED = `
  delete from sessions where id_hash in (
    select id_hash from sessions where used_ts < $1 order by used_ts limit $2 for update skip locked)`;

const DELETE_ABOVE_MAXIMUM = `
  delete from sessions where id_hash in (
    select id_hash from sessions where sub = $1
    order by used_ts desc, created_ts desc, id_hash offset $2 for update skip locked)`;

const TOUCH = `update sessions set used_ts = $2 where id_hash = decode($1, 'hex') and used_ts < $2`;

const END = {
  this: `delete from sessions where sub = $1 and id_hash = decode($2, 'hex')`,
  others: `delete from sessions where sub = $1 and id_hash <> decode($2, 'hex')`,
};

/** Sessions of pages, shared by all nodes. */
export function createSessionStore(db: Database): SessionStore {
  return {
    findSessions: async (ids) => (await db.query<SessionRow>(BY_ID, [[...ids]])).map(toSession),
    sessions: async (sub) => (await db.query<SessionRow>(BY_SUB, [sub])).map(toSession),

    addSession: (session, { keepSince, maxPerAccount, maxDeleted }) =>
      db.transaction(async (transaction) => {
        await transaction.run(DELETE_ENDED, [keepSince, maxDeleted]);
        await transaction.run(ADD, toSessionRow(session));
        await transaction.run(DELETE_ABOVE_MAXIMUM, [session.sub, maxPerAccount]);
      }),

    async touchSession(id, usedTs) {
      await db.run(TOUCH, [id, usedTs]);
    },

    endSessions: (sub, id, which) => db.run(END[which], [sub, id]),
  };
}
