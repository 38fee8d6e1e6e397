import type { PageProps } from '../main.tsx';

export function ApiPage(_: PageProps) {
  return <h1>ApiPage</h1>;
}
