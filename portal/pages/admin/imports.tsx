export function ImportsAdmin() {
  return <h1>Imports</h1>;
}
