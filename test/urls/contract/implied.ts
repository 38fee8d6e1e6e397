/** A complete listing. */
export type NamedUrls = { feed: string; ts: number; urls: string[] };

/** When a URL went offline by what all these listings say together: the rule, read from the listings as they are. */
export function impliedByListings(listings: NamedUrls[], url: string): number | null {
  const drops = Object.values(Object.groupBy(listings, ({ feed }) => feed)).flatMap((ofFeed = []) => {
    const named = ofFeed.filter(({ urls }) => urls.includes(url)).map(({ ts }) => ts);
    if (named.length === 0) return [];
    const later = ofFeed.map(({ ts }) => ts).filter((ts) => ts > Math.max(...named));
    return [later.length === 0 ? null : Math.min(...later)];
  });
  return drops.length === 0 || drops.includes(null) ? null : Math.max(...drops.map(Number));
}
