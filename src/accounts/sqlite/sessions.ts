import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { type SessionRow, toSession, toSessionRow } from '../rows.ts';
import type { Session, SessionBounds, SessionStore } from '../store.ts';

const SESSIONS = `
  select lower(hex(id_hash)), sub, generation, created_ts, used_ts, address, agent from sessions`;

/** Sessions of pages in `control.db`. */
export function createSessionStore({ db, write }: DatabaseFile<SessionWrites>): SessionStore {
  const byId = db.prepare<SessionRow>(`${SESSIONS} where id_hash = unhex(?)`);
  const bySub = db.prepare<SessionRow>(`${SESSIONS} where sub = ? order by used_ts desc, created_ts desc, id_hash`);

  return {
    findSessions: async (ids) => ids.flatMap((id) => byId.all(id)).map(toSession),
    sessions: async (sub) => bySub.all(sub).map(toSession),
    addSession: (session, bounds) => write('addSession', session, bounds),
    touchSession: (id, usedTs) => write('touchSession', id, usedTs),
    endSessions: (sub, id, which) => write('endSessions', sub, id, which),
  };
}

const ADD = `
  insert into sessions (id_hash, sub, generation, created_ts, used_ts, address, agent)
  values (unhex(?), ?, ?, ?, ?, ?, ?)`;

const DELETE_ENDED = `
  delete from sessions where id_hash in (
    select id_hash from sessions where used_ts < :keepSince order by used_ts limit :maxDeleted)`;

const DELETE_ABOVE_MAXIMUM = `
  delete from sessions where id_hash in (
    select id_hash from sessions where sub = :sub
    order by used_ts desc, created_ts desc, id_hash limit -1 offset :maxPerAccount)`;

const TOUCH = 'update sessions set used_ts = :usedTs where id_hash = unhex(:id) and used_ts < :usedTs';

type SessionWrites = ReturnType<typeof createSessionWrites>;

/** The writes, which run on the writer thread of `control.db`. */
export function createSessionWrites(db: Database) {
  const add = db.prepare(ADD);
  const deleteEnded = db.prepare(DELETE_ENDED);
  const deleteAboveMaximum = db.prepare(DELETE_ABOVE_MAXIMUM);
  const touch = db.prepare(TOUCH);
  const end = {
    this: db.prepare('delete from sessions where sub = ? and id_hash = unhex(?)'),
    others: db.prepare('delete from sessions where sub = ? and id_hash <> unhex(?)'),
  };

  return {
    addSession(session: Session, { keepSince, maxPerAccount, maxDeleted }: SessionBounds): void {
      db.transaction(() => {
        deleteEnded.run({ keepSince, maxDeleted });
        add.run(...toSessionRow(session));
        deleteAboveMaximum.run({ sub: session.sub, maxPerAccount });
      });
    },

    touchSession(id: string, usedTs: number): void {
      touch.run({ id, usedTs });
    },

    endSessions(sub: string, id: string, which: 'this' | 'others'): number {
      return end[which].run(sub, id);
    },
  };
}
