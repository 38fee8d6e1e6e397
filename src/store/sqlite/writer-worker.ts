import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import { openWriter } from './database.ts';
import { PARTS } from './parts.ts';
import type { WriterAnswer, WriterData, WriterRequest } from './writer.ts';

// The writer's thread: a request in, an answer out, one after the other.

if (parentPort === null) throw new Error('writer-worker.ts runs as a worker thread only');
const port = parentPort;
const { part, path } = workerData as WriterData;
const db = openWriter(path);
// The types of names and arguments are kept by `createWriter`, the only one that asks.
const writes = PARTS[part](db) as Record<string, (...args: unknown[]) => unknown>;

port.on('message', (request: WriterRequest) => {
  if (request === 'close') {
    db.close();
    port.close();
  } else port.postMessage(answer(request));
});

function answer({ id, name, args }: Exclude<WriterRequest, 'close'>): WriterAnswer {
  try {
    return { id, result: writes[name]?.(...args) };
  } catch (error) {
    return { id, failed: error, code: error instanceof AppError ? error.code : null };
  }
}
