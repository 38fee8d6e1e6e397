import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { JudgeAnswer, JudgeRequest } from './password-judge.ts';
import { verifyPasswordSync } from './passwords.ts';

if (parentPort === null) throw new Error('password-judge-worker.ts runs as a worker thread only');
const port = parentPort;

// On Linux 0 is the calling thread (setpriority(2), "C library/kernel differences"); elsewhere it is the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

port.on('message', (request: JudgeRequest) => port.postMessage(answer(request)));

function answer({ id, password, hash }: JudgeRequest): JudgeAnswer {
  try {
    return { id, isMatch: verifyPasswordSync(password, hash) };
  } catch (failed) {
    return { id, failed };
  }
}
