import type { FileDetails } from '../../core/records.ts';
import { sha256OfKey } from '../file-key.ts';
import type { Database } from './database.ts';

/** What the row of a file tells; its family is told by each payload. */
export type StoredFile = Omit<FileDetails, 'family'> & { key: Uint8Array; sha256: string | null };

/** Files by id, as they are in the state of the database that is read now. */
export type Files = {
  /** Before files of another turn are asked for: what anybody wrote since is then seen. */
  renew(): void;
  of(id: number): StoredFile;
};

/** About 10 MB. What goes beyond is read again. */
const REMEMBERED = 20_000;

const FILE = 'select file_key, mime_type, file_type, file_ext, file_size, file_name from files where id = ?';

type FileRow = [
  key: Uint8Array,
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];

/**
 * Details are filled in when somebody tells them, also by other processes. So all are forgotten as soon as the database
 * was changed by whomever (https://www.sqlite.org/pragma.html#pragma_data_version), which costs a microsecond to ask.
 */
export function createFiles(db: Database): Files {
  const file = db.prepare<FileRow>(FILE);
  const version = db.prepare<[number]>('pragma data_version');
  const files = new Map<number, StoredFile>();
  let readVersion: number | undefined;

  function read(id: number): StoredFile {
    const [key, mimeType, fileType, fileExt, fileSize, fileName] = file.get(id) as FileRow;
    return { key, sha256: sha256OfKey(key), mimeType, fileType, fileExt, fileSize, fileName };
  }

  return {
    renew() {
      const current = version.get()?.[0];
      if (current !== readVersion) files.clear();
      readVersion = current;
    },

    of(id) {
      const known = files.get(id);
      if (known !== undefined) return known;
      const one = read(id);
      if (files.size >= REMEMBERED) files.clear();
      files.set(id, one);
      return one;
    },
  };
}
