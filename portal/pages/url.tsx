import type { PageProps } from '../main.tsx';

export function UrlPage(_: PageProps) {
  return <h1>UrlPage</h1>;
}
