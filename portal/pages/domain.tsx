import type { PageProps } from '../main.tsx';

export function DomainPage(_: PageProps) {
  return <h1>DomainPage</h1>;
}
