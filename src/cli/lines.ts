/** A line of input without its line break, or why it cannot be read. */
export type Line = { ok: true; text: string } | { ok: false; error: 'too_long' | 'invalid_unicode' };

/** What a request body may have. The longest URL, each of its 8,192 characters written \uXXXX, takes 49,154 bytes. */
export const LINE_MAX_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);
/** Strict, because a replacement character would make different inputs equal. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The lines of a stream, as many at a time as have arrived. Of an overlong line only the beginning is held. */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest: Buffer = NOTHING;
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      lines.push(toLine(joined(rest, chunk.subarray(start, end))));
      rest = NOTHING;
      start = end + 1;
    }
    rest = joined(rest, chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [toLine(rest)];
}

/** One byte over the bound is kept, so that the line is known to be too long. */
function joined(rest: Buffer, piece: Buffer): Buffer {
  const room = LINE_MAX_BYTES + 1 - rest.length;
  return rest.length === 0 ? Buffer.from(piece.subarray(0, room)) : Buffer.concat([rest, piece.subarray(0, room)]);
}

function toLine(bytes: Buffer): Line {
  if (bytes.length > LINE_MAX_BYTES) return { ok: false, error: 'too_long' };
  try {
    return { ok: true, text: decoder.decode(bytes) };
  } catch {
    return { ok: false, error: 'invalid_unicode' };
  }
}
