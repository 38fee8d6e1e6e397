export function ListsAdmin() {
  return <h1>Lists</h1>;
}
