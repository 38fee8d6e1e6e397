import { refangUrl } from '../../core/url/refang.ts';
import type { Format } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';

export const urlList: Format = {
  name: 'url-list',
  summary: 'one URL per line, also defanged as hxxp://example[.]com; # starts a comment',
  read: (source, limits, { asOfTs }) =>
    readLineItems(source, limits, (line) => {
      const text = line.trim();
      return text.startsWith('#') ? null : { inputs: [{ ts: asOfTs, url: refangUrl(text) }] };
    }),
};
