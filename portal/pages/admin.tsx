import type { PageProps } from '../main.tsx';

export function AdminPage(_: PageProps) {
  return <h1>AdminPage</h1>;
}
