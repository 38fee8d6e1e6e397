import type { PageProps } from '../main.tsx';

export function SearchPage(_: PageProps) {
  return <h1>SearchPage</h1>;
}
