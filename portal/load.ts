import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, BAD_REQUEST, get, isSessionOver, LIMIT_REACHED, UNAUTHORIZED } from './api.ts';

/** What a page knows about its data. */
type State<T> =
  | { state: 'loading'; data: null; error: null }
  | { state: 'failed'; data: null; error: ApiError }
  /** With an error: it could not be loaded again, and `data` is what was loaded before. */
  | { state: 'done'; data: T; error: ApiError | null };

export type Loaded<T> = State<T> & { reload(): void };

const LOADING = { state: 'loading', data: null, error: null } as const;

/**
 * Loads when `key` changes, and when `reload` is called; a response that is no longer wanted is dropped. The data stay while the
 * server is away or the session is over: without them, a form that somebody fills in would be gone.
 */
export function useLoad<T>(key: string, load: (abort: AbortSignal) => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<State<T>>(LOADING);
  const [round, setRound] = useState(0);
  const shownKey = useRef(key);
  useEffect(() => {
    const abort = new AbortController();
    if (shownKey.current !== key) setLoaded(LOADING);
    shownKey.current = key;
    withRetry(load, abort.signal).then(
      (data) => abort.signal.aborted || setLoaded({ state: 'done', data, error: null }),
      (thrown) => {
        if (abort.signal.aborted) return;
        const error = toApiError(thrown);
        setLoaded((last) =>
          last.state === 'done' && isForNow(error) ? { ...last, error } : { state: 'failed', data: null, error },
        );
      },
    );
    return () => abort.abort();
  }, [key, round]);
  const reload = () => setRound((last) => last + 1);
  useEffect(() => {
    if (loaded.error?.status === UNAUTHORIZED && !isSessionOver.value) reload(); // after a new login
  }, [isSessionOver.value, loaded.error]);
  const current = shownKey.current === key ? loaded : LOADING;
  return { ...current, reload };
}

/** Nobody has to press a button after such a short wait. */
const SHORT_WAIT_SECONDS = 2;

/** Tries once more if a limit is reached that has room again at once, such as that of one second. */
export async function withRetry<T>(load: (abort: AbortSignal) => Promise<T>, abort: AbortSignal): Promise<T> {
  try {
    return await load(abort);
  } catch (error) {
    const seconds = error instanceof ApiError && error.status === LIMIT_REACHED ? error.retryAfterSeconds : null;
    if (seconds === null || seconds > SHORT_WAIT_SECONDS) throw error;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    abort.throwIfAborted();
    return load(abort);
  }
}

/** The response to a request that is its address alone. */
export const useGet = <T>(path: string): Loaded<T> => useLoad(path, (abort) => get<T>(path, abort));

/** Any other refusal says that the data are gone, or not for this account. */
const isForNow = ({ status }: ApiError): boolean =>
  status < BAD_REQUEST || status === UNAUTHORIZED || status === LIMIT_REACHED || status >= 500;

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(-1, `The page failed: ${error instanceof Error ? error.message : String(error)}`);
}
