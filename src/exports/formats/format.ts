import type { AddressEntry, HostEntry, ListContent, ListKind, UrlEntry } from '../content.ts';
import type { Profile } from './profiles.ts';

/** How a format writes the entries of one kind. */
export type Writer<Entry> = {
  /**
   * The entry as text. Entries with the same text are written once. Null: the format cannot express the entry. A writer
   * relies on no earlier check: values that nobody should have stored are refused here too.
   */
  key(entry: Entry, profile: Profile | null): string | null;
  /** Whether two entries never have the same text. To find repeated texts takes half the time of a file. */
  isUnique?(profile: Profile | null): boolean;
  /** The program also blocks names below a name, so a name below another one of the list is not written. */
  coversSubdomains?: boolean;
  /** The lines of the file after the comments. A key is computed when it is asked for: all of a large list would take much memory. */
  lines(keys: Iterable<string>, list: Pick<ListContent, 'name' | 'serial'>): Iterable<string>;
};

/** A format of lists for devices. Its name is the end of the address: `/api/lists/v1/{list}.{format}`. */
export type Format = {
  name: string;
  /** The programs that read it. */
  summary: string;
  contentType: string;
  /** What begins a line of comment; null: the format has no comments. */
  comment: '#' | ';' | '!' | null;
  lineEnd: '\n' | '\r\n';
  /** The bytes also have times and scores, which change while the serial stays. Other formats read the key of an entry only. */
  hasAllFields: boolean;
  /** Whether `profile` of a device has a meaning. */
  takesProfile: boolean;
  urls?: Writer<UrlEntry>;
  hosts?: Writer<HostEntry>;
  addresses?: Writer<AddressEntry>;
};

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** What most formats have in common. */
export const TEXT_FORMAT = {
  contentType: PLAIN_TEXT,
  comment: '#',
  lineEnd: '\n',
  hasAllFields: false,
  takesProfile: false,
} as const satisfies Partial<Format>;

/** Some lines, then one for each key. */
export function* linesOf(first: readonly string[], keys: Iterable<string>, lineOf: (key: string) => string) {
  for (const line of first) yield line;
  for (const key of keys) yield lineOf(key);
}

export const kindsOf = (format: Format): ListKind[] =>
  (['urls', 'hosts', 'addresses'] as const).filter((kind) => format[kind] !== undefined);
