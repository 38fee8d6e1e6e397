import type { Format } from '../format.ts';
import { readTable, type Table } from '../table.ts';
import { parseUtc, toSha256, toText } from '../values.ts';
import { toUrl } from './urlhaus-row.ts';

/**
 * A payload tells nothing about the status. "Online at `firstseen`" would be true, but where the URL dump has no
 * `last_online` it says offline at `dateadded`, which is before: every such URL would come back to life.
 */
const TABLE: Table = {
  layouts: [['firstseen', 'url', 'filetype', 'md5', 'sha256', 'signature']],
  required: ['firstseen', 'url', 'sha256'],
  rowReader(columnOf) {
    const first = columnOf('firstseen');
    const urlColumn = columnOf('url');
    const type = columnOf('filetype');
    const hash = columnOf('sha256');
    const signature = columnOf('signature');
    return (fields) => {
      const ts = parseUtc(fields[first]);
      if (ts === null) return 'firstseen: a time such as 2025-07-17 17:19:14 is needed';
      const url = toUrl(fields[urlColumn]);
      if (url === null) return 'url: missing';
      const sha256 = toSha256(fields[hash]);
      if (sha256 === undefined) return 'sha256: 64 hexadecimal digits are needed';
      const fileType = toText(fields[type]);
      const family = toText(fields[signature]);
      if (sha256 === null && fileType === null && family === null) return 'neither hash nor type nor signature';
      return { inputs: [{ ts, url, status: null, payload: { sha256, fileType, family } }] };
    };
  },
};

export const urlhausPayloads: Format = {
  name: 'urlhaus-payloads',
  summary: 'URLhaus payload dump as CSV: which URL served which file',
  read: (source, limits) => readTable(source, limits, TABLE),
};
