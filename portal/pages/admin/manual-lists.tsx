import '../../main.tsx';
import { AllowList } from './by-hand/allow-list.tsx';
import { Domains } from './by-hand/domains.tsx';
import { Listings, useListings } from './by-hand/listings.tsx';

export function ManualListsAdmin() {
  const listings = useListings();
  return (
    <>
      <h1>Lists by hand</h1>
      <p class="dim">What people decided in addition to the feeds. The audit log has every change.</p>
      <Domains />
      <Listings loaded={listings} />
      <AllowList onChange={listings.reload} />
    </>
  );
}
