import type { Database } from './database.ts';
import { createMakeAnswer } from './read-last.ts';

/**
 * Ready answers: the column `answer` of a URL (migration 0005). A statement that changes what the answer shows sets it to
 * null, and the URL is noted; at the end of the transaction the answers of all noted are made anew. So one that was
 * forgotten here is missing, which only costs time, and not wrong. What becomes known of a file comes a little later, from
 * `spread-files.ts`: it may concern a hundred thousand URLs.
 */
export type Answers = {
  note(urlId: number): void;
  /** The last thing in a transaction. */
  makeNoted(): void;
  /** After a rollback. */
  forget(): void;
};

const SET = 'update urls set answer = ? where id = ?';

export function createAnswers(db: Database): Answers {
  const make = createMakeAnswer(db);
  const set = db.prepare(SET);
  const noted = new Set<number>();
  return {
    note: (urlId) => void noted.add(urlId),
    makeNoted() {
      for (const urlId of noted) set.run(make(urlId), urlId);
      noted.clear();
    },
    forget: () => noted.clear(),
  };
}
