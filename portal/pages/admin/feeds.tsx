export function FeedsAdmin() {
  return <h1>Feeds</h1>;
}
