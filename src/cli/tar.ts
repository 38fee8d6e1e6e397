import { badRequest } from '../core/errors.ts';
import type { Source } from '../ingest/sources/format.ts';
import { peekable } from '../ingest/sources/source.ts';

/** POSIX.1-2017 `pax`, "ustar Interchange Format": the field `magic`; GNU tar ends it with two blanks. */
const MAGIC_AT = 257;
const MAGIC = ['ustar\0', 'ustar  \0'];
const HEADER_BYTES = 512;

/** The same source, which refuses a tar archive: its files are text in part, so many of its lines would be imported. */
export function refuseTar(source: Source): Source {
  async function* bytes(): AsyncGenerator<Buffer> {
    const chunks = peekable(source.bytes());
    try {
      const start = (await chunks.start(HEADER_BYTES)).toString('latin1', 0, HEADER_BYTES);
      if (MAGIC.some((magic) => start.startsWith(magic, MAGIC_AT))) {
        throw badRequest(`${source.name}: This is a tar archive: unpack it first`);
      }
      yield* chunks.all;
    } finally {
      await chunks.close();
    }
  }
  return { ...source, bytes };
}
