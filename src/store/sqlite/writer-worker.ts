import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import { createApply } from './apply.ts';
import { openWriter } from './database.ts';
import type { WriterAnswer, WriterRequest } from './writer.ts';

// The writer's thread: a batch in, a report out, one after the other.

if (parentPort === null) throw new Error('writer-worker.ts runs as a worker thread only');
const port = parentPort;
const db = openWriter(workerData as string);
const apply = createApply(db);

port.on('message', (request: WriterRequest) => {
  if (request === 'close') {
    db.close();
    port.close();
  } else port.postMessage(answer(request));
});

function answer({ id, observations }: Exclude<WriterRequest, 'close'>): WriterAnswer {
  try {
    return { id, report: apply(observations) };
  } catch (error) {
    // An AppError's class does not survive the way between threads.
    return { id, failed: error, isUnavailable: error instanceof AppError && error.code === 'unavailable' };
  }
}
