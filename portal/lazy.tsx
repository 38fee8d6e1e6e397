import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, SERVER_AWAY } from './api.ts';
import { Loading, Problem } from './parts/basics.tsx';

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
        () => setError(new ApiError(SERVER_AWAY, MISSING)),
      );
    }, []);
    if (Page !== null) return <Page {...props} />;
    return error === null ? <Loading /> : <Problem error={error} retry={() => location.reload()} />;
  };
}

const MISSING =
  'A part of the page could not be loaded. Check that the server runs. After an upgrade the page must be loaded again.';
