import { type FileText, fileText } from '../answer-text.ts';
import type { Database } from './database.ts';

/** What payloads tell of files, by id of file, as it is in the state of the database that is read now. */
export type Files = {
  /** Before files of another turn are asked for: what anybody wrote since is then seen. */
  renew(): void;
  textOf(id: number): FileText;
};

/**
 * As many files, about 10 MB. A file has one place, by its id, and takes it from whoever was there: ids are given one
 * after another, so that few meet. A Map costs two more visits to memory that is in no cache, 15 µs in a history.
 */
const PLACES = 2 ** 15;

const NOBODY = 0;

// A file without a hash is known by a shorter key.
const FILE = `
  select mime_type, file_type, file_ext, file_size, file_name,
    case when length(file_key) = 32 then lower(hex(file_key)) end
  from files where id = ?`;

type FileRow = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
  sha256: string | null,
];

/**
 * Details are filled in when somebody tells them, also by other processes. So all are forgotten as soon as the database
 * was changed by whomever (https://www.sqlite.org/pragma.html#pragma_data_version), which costs a microsecond to ask.
 */
export function createFiles(db: Database): Files {
  const file = db.prepare<FileRow>(FILE);
  const version = db.prepare<[number]>('pragma data_version');
  const ids = new Float64Array(PLACES);
  const texts: FileText[] = new Array(PLACES).fill('');
  let readVersion: number | undefined;

  function read(id: number): FileText {
    const [mimeType, fileType, fileExt, fileSize, fileName, sha256] = file.get(id) as FileRow;
    const text = fileText({ mimeType, fileType, fileExt, fileSize, fileName, sha256 });
    // As one piece: the runtime keeps what is put together as a tree of its parts, and would walk it with every answer.
    return Buffer.from(text).toString();
  }

  return {
    renew() {
      const current = version.get()?.[0];
      if (current !== readVersion) ids.fill(NOBODY);
      readVersion = current;
    },

    textOf(id) {
      const place = id % PLACES;
      if (ids[place] === id) return texts[place] as FileText;
      const text = read(id);
      ids[place] = id;
      texts[place] = text;
      return text;
    },
  };
}
