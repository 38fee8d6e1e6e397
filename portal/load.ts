import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.ts';

/** What a page knows about its data. */
export type Loaded<T> =
  | { state: 'loading'; data: null; error: null }
  | { state: 'failed'; data: null; error: ApiError }
  | { state: 'done'; data: T; error: null };

const LOADING = { state: 'loading', data: null, error: null } as const;

/** Loads when `key` changes, and when `reload` is called; an answer that is no longer wanted is dropped. */
export function useLoad<T>(key: string, load: (abort: AbortSignal) => Promise<T>): Loaded<T> & { reload(): void } {
  const [loaded, setLoaded] = useState<Loaded<T>>(LOADING);
  const [round, setRound] = useState(0);
  const shownKey = useRef(key);
  useEffect(() => {
    const abort = new AbortController();
    if (shownKey.current !== key) setLoaded(LOADING);
    shownKey.current = key;
    load(abort.signal).then(
      (data) => abort.signal.aborted || setLoaded({ state: 'done', data, error: null }),
      (error) => abort.signal.aborted || setLoaded({ state: 'failed', data: null, error: toApiError(error) }),
    );
    return () => abort.abort();
  }, [key, round]);
  const current = shownKey.current === key ? loaded : LOADING;
  return { ...current, reload: () => setRound(round + 1) };
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(-1, `The page failed: ${error instanceof Error ? error.message : String(error)}`);
}
