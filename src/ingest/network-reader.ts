import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../threads/worker-thread.ts';
import { readTables } from './network-table.ts';

// The entry file of a thread that reads the tables of networks, sends them, and ends.

lowerPriority();
parentPort?.postMessage(readTables(workerData));
