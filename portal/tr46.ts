/** Characters that would end the host in a URL. No name may contain them. */
const NO_NAME = /[\s/?#@:\\[\]%]/;

/**
 * Stands for the package `tr46` in the bundle: the browser has the same rules of UTS-46, perhaps of another year. The pages use
 * it only to say what a list contains; the server decides.
 */
export function toASCII(name: string): string | null {
  if (NO_NAME.test(name)) return null;
  return URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`).hostname : null;
}
