import { type EventTail, eventTail, inOnePiece } from '../answer-text.ts';
import { FIRST_HIDDEN_KIND } from '../entry-kind.ts';
import type { Database } from './database.ts';
import { createNames } from './names.ts';

/** Reporters, kinds and the few reasons make some thousand; what goes beyond is made again. */
const REMEMBERED = 10_000;

/** Of the numbers for reason and kind; one that is greater is made each time. */
const MOST = 4096;

/** What events say behind their time, remembered: most of a history says one of few things. */
export function createEventTails(db: Database): (removalAndKind: number, reporterId: number) => EventTail {
  const removals = createNames(db, 'removals', 'reason');
  const reporters = createNames(db, 'reporters', 'name');
  const tails = new Map<number, EventTail>();

  function make(removalAndKind: number, reporterId: number): EventTail {
    const kind = removalAndKind % FIRST_HIDDEN_KIND;
    return eventTail(kind, removals((removalAndKind - kind) / FIRST_HIDDEN_KIND), reporters(reporterId));
  }

  return (removalAndKind, reporterId) => {
    if (removalAndKind >= MOST) return make(removalAndKind, reporterId);
    const key = reporterId * MOST + removalAndKind;
    const known = tails.get(key);
    if (known !== undefined) return known;
    const tail = inOnePiece(make(removalAndKind, reporterId));
    if (tails.size >= REMEMBERED) tails.clear();
    tails.set(key, tail);
    return tail;
  };
}
