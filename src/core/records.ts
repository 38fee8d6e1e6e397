/** What the server knows, in the words of the code; `http/present.ts` and `store/answer-text.ts` turn it into the words of the wire. */

export type EventKind = 'added' | 'online' | 'offline' | 'removed';

/** The newest event read as a status: what was removed is offline, and keeps its reason. */
export const STATUS_OF = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  removed: 'offline',
} as const satisfies Record<EventKind, string>;

/** A change in the life of a URL. `ts` is Unix seconds, here and everywhere. */
export type StatusEvent = {
  ts: number;
  kind: EventKind;
  /** Why the URL was removed; empty for every other kind and where no reason was given. */
  removal: string;
  reporter: string;
};

/** What is known of a file; null where nobody has said. */
export type FileDetails = {
  mimeType: string | null;
  fileType: string | null;
  fileExt: string | null;
  fileSize: number | null;
  fileName: string | null;
  family: string | null;
};

/** What somebody knows of a file, whoever served it. */
export type FileReport = FileDetails & { sha256: string };

/** A file that a URL served at `ts`. */
export type Payload = FileDetails & {
  ts: number;
  /** 64 lower-case hexadecimal digits. */
  sha256: string | null;
};

export type UrlLast = {
  id: number;
  url: string;
  /** The newest event; null when all that was reported of the URL are facts without a status. */
  event: StatusEvent | null;
  payload: Payload | null;
};

/** One match of a search: the URL and the time of the resolution, event or payload that matched. A line on the wire. */
export type Fact = {
  ts: number;
  id: number;
  url: string;
};
