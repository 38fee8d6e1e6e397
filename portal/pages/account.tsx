import type { PageProps } from '../main.tsx';

export function AccountPage(_: PageProps) {
  return <h1>AccountPage</h1>;
}
