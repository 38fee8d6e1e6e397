import type { Format } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';

export const urlList: Format = {
  name: 'url-list',
  summary: 'one URL per line, also defanged as hxxp://example[.]com; # starts a comment',
  read: (source, limits, { asOfTs }) =>
    readLineItems(source, limits, (line) => {
      const text = line.trim();
      return text.startsWith('#') ? null : { inputs: [{ ts: asOfTs, url: refang(text) }] };
    }),
};

/** A defanged scheme, written so that it is not clickable: `hxxps[:]//`, `fxp://`, `http[://]`. */
const DEFANGED_SCHEME = /^(hxxp|http|fxp|ftp)(s?)(?:\[:\]\/\/|\[:\/\/\]|:\/\/)/i;
const DEFANGED_DOT = /\[\.\]|\(\.\)/g;
const DEFANGED_COLON = /\[:\]/g;
const END_OF_HOST = /[/?#\\]/;

/** `hxxps[:]//www[.]example[.]com/a` becomes `https://www.example.com/a`. Brackets after the host are kept. */
export function refang(text: string): string {
  const scheme = DEFANGED_SCHEME.exec(text);
  if (scheme === null) return text;
  const [whole, name = '', secure = ''] = scheme;
  const rest = text.slice(whole.length);
  const end = rest.search(END_OF_HOST);
  const host = end === -1 ? rest : rest.slice(0, end);
  const protocol = /^f/i.test(name) ? 'ftp' : 'http';
  return `${protocol}${secure}://${host.replace(DEFANGED_DOT, '.').replace(DEFANGED_COLON, ':')}${rest.slice(host.length)}`;
}
