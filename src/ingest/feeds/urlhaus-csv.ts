import type { Format } from '../format.ts';
import { readTable, type Table } from '../table.ts';
import { toText } from '../values.ts';
import { readUrlhausRow, toUrl } from './urlhaus-row.ts';

/** Today's columns, those before `last_online` came, and those before `reporter`. */
const LAYOUTS = [
  ['id', 'dateadded', 'url', 'url_status', 'last_online', 'threat', 'tags', 'urlhaus_link', 'reporter'],
  ['id', 'dateadded', 'url', 'url_status', 'threat', 'tags', 'urlhaus_link', 'reporter'],
  ['id', 'dateadded', 'url', 'url_status', 'threat', 'tags', 'urlhaus_link'],
];

const TABLE: Table = {
  layouts: LAYOUTS,
  required: ['dateadded', 'url', 'url_status'],
  rowReader(columnOf) {
    const added = columnOf('dateadded');
    const url = columnOf('url');
    const status = columnOf('url_status');
    const last = columnOf('last_online');
    const reporter = columnOf('reporter');
    return (fields) =>
      readUrlhausRow({
        dateadded: fields[added],
        url: toUrl(fields[url]),
        urlStatus: toText(fields[status]),
        lastOnline: fields[last],
        reporter: toText(fields[reporter]),
      });
  },
};

export const urlhausCsv: Format = {
  name: 'urlhaus-csv',
  summary: 'URLhaus URL dump as CSV: full, recent or online, of any year',
  read: (source, limits) => readTable(source, limits, TABLE),
};
