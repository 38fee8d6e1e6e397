import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from './api.ts';
import { LOAD_AGAIN, Loading, Problem } from './parts/basics.tsx';

/** A page whose script is loaded when it is opened for the first time. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Page: ComponentType<Props> | null = null;
  return function LazyPage(props: Props) {
    const [, setLoaded] = useState(Page !== null);
    const [error, setError] = useState<ApiError | null>(null);
    useEffect(() => {
      if (Page !== null) return;
      load().then(
        (loaded) => {
          Page = loaded;
          setLoaded(true);
        },
        () => setError(new ApiError(-1, MISSING)),
      );
    }, []);
    if (Page !== null) return <Page {...props} />;
    return error === null ? <Loading /> : <Problem error={error} {...LOAD_AGAIN} />;
  };
}

const MISSING =
  'A part of the page could not be loaded. If the server was upgraded, load the page again. Otherwise check that it runs.';
