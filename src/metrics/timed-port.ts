/** Records the duration of a call. */
type RecordSeconds = (seconds: number) => void;

type Method = (...args: never[]) => unknown;

/**
 * The same port with every call timed. For a stream each page is timed separately, because between two pages the stream
 * waits for its reader.
 */
export function timedPort<Port extends object>(port: Port, operation: (name: string) => RecordSeconds): Port {
  const methods = Object.entries(port).map(([name, method]) => [name, timedMethod(method as Method, operation(name))]);
  return Object.fromEntries(methods);
}

function timedMethod(method: Method, record: RecordSeconds): Method {
  return (...args) => {
    const startMs = performance.now();
    let result: unknown;
    try {
      result = method(...args);
    } catch (error) {
      record(secondsSince(startMs));
      throw error;
    }
    if (result instanceof Promise) return timedPromise(result, startMs, record);
    if (isStream(result)) return timedStream(result, record);
    record(secondsSince(startMs));
    return result;
  };
}

/** Returns the same promise, so that the caller does not wait an extra microtask. */
function timedPromise<T>(promise: Promise<T>, startMs: number, record: RecordSeconds): Promise<T> {
  const stop = () => record(secondsSince(startMs));
  promise.then(stop, stop);
  return promise;
}

const secondsSince = (startMs: number): number => (performance.now() - startMs) / 1000;

function timedStream<T>(stream: AsyncIterable<T>, record: RecordSeconds): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const pages = stream[Symbol.asyncIterator]();
      return {
        next() {
          const startMs = performance.now(); // before the call: SQLite reads a page within it
          return timedPromise(pages.next(), startMs, record);
        },
        return: async () => pages.return?.() ?? { done: true, value: undefined },
      };
    },
  };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
