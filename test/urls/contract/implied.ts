/** A complete listing. */
export type ListedUrls = { feed: string; ts: number; urls: string[] };

/** The rule applied to all listings together: when the URL went offline. */
export function impliedByListings(listings: ListedUrls[], url: string): number | null {
  const drops = Object.values(Object.groupBy(listings, ({ feed }) => feed)).flatMap((ofFeed = []) => {
    const listed = ofFeed.filter(({ urls }) => urls.includes(url)).map(({ ts }) => ts);
    if (listed.length === 0) return [];
    const later = ofFeed.map(({ ts }) => ts).filter((ts) => ts > Math.max(...listed));
    return [later.length === 0 ? null : Math.min(...later)];
  });
  return drops.length === 0 || drops.includes(null) ? null : Math.max(...drops.map(Number));
}
