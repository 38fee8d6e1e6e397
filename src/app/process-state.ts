import { MAX_THREADS } from '../config/settings.ts';

/** What all threads of the process know at once. The buffer is shared with them. */
export type ProcessState = {
  buffer: SharedArrayBuffer;
  isStopping(): boolean;
  announceStop(): void;
  /** Rows were found that contradict each other. */
  hasFaults(): boolean;
  setFaults(hasFaults: boolean): void;
  /** Whether the connections of all threads to Redis are up. */
  isRedisUp(): boolean;
  setRedisUp(thread: number, isUp: boolean): void;
};

const STOPPING = 0;
const FAULTS = 1;
/** One for each thread: 1 while its connection is down. */
const REDIS_DOWN = 2;

export function createProcessState(
  buffer: SharedArrayBuffer = new SharedArrayBuffer((REDIS_DOWN + MAX_THREADS) * Int32Array.BYTES_PER_ELEMENT),
): ProcessState {
  const values = new Int32Array(buffer);
  const is = (at: number): boolean => Atomics.load(values, at) === 1;
  const set = (at: number, value: boolean): void => void Atomics.store(values, at, Number(value));
  return {
    buffer,
    isStopping: () => is(STOPPING),
    announceStop: () => set(STOPPING, true),
    hasFaults: () => is(FAULTS),
    setFaults: (hasFaults) => set(FAULTS, hasFaults),
    isRedisUp: () => !values.includes(1, REDIS_DOWN),
    setRedisUp: (thread, isUp) => set(REDIS_DOWN + thread, !isUp),
  };
}
