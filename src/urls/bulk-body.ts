import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { badRequest } from '../core/errors.ts';
import { discardRest } from '../http/body.ts';
import { createStallTimer } from '../http/stall-timer.ts';
import { createLineBuffer, type Line } from './bulk-lines.ts';

/** How a body ended: `cut` after the bytes that are kept, `corrupt` where its gzip is not valid. */
type BodyEnd = 'complete' | 'cut' | 'corrupt';

export type BulkBody = {
  /** The next lines, one to `max`; waits for them. After the last line, how the body ended. Throws if the client left. */
  next(max: number): Promise<Line[] | BodyEnd>;
  /** To be called when nothing more is read. The rest of the body is discarded. */
  stop(): void;
};

/** Takes the body of a request as fast as it arrives, whether or not anybody asks for lines. */
export function readBulkBody(raw: IncomingMessage, isGzip: boolean, stallMs: number): BulkBody {
  const lines = createLineBuffer();
  const packed = isGzip ? createGunzip() : null;
  const source: Readable = packed ?? raw;
  let end: BodyEnd | 'left' | null = null;
  let wake = () => {};

  const stalled = createStallTimer(stallMs, () => raw.destroy());

  function finish(how: NonNullable<typeof end>): void {
    if (end !== null) return;
    end = how;
    stalled.stop();
    raw.off('data', stalled.refresh);
    source.off('data', keep);
    if (packed !== null) raw.unpipe(packed);
    if (how !== 'complete') packed?.destroy();
    discardRest(raw);
    wake();
  }

  function keep(chunk: Buffer): void {
    if (lines.push(chunk)) wake();
    else finish('cut');
  }

  function complete(): void {
    if (end === null) lines.end();
    finish('complete');
  }

  raw.on('data', stalled.refresh);
  source.on('data', keep);
  source.once('end', complete);
  raw.on('error', () => finish('left'));
  raw.once('close', () => {
    if (!raw.readableEnded) finish('left');
  });
  if (packed !== null) {
    packed.on('error', () => finish('corrupt'));
    raw.pipe(packed);
  }
  if (raw.readableEnded) complete(); // Node has ended a request without a body already

  return {
    async next(max) {
      for (;;) {
        const found = lines.take(max);
        if (found !== null && found.length > 0) return found;
        if (found !== null) await nextIteration();
        else if (end === 'left') throw badRequest('The body ended early; send it again');
        else if (end !== null) return end;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    stop: () => finish('left'),
  };
}
