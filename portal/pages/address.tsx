import type { PageProps } from '../main.tsx';

export function AddressPage(_: PageProps) {
  return <h1>Address</h1>;
}

export function NetworkPage(_: PageProps) {
  return <h1>Network</h1>;
}
