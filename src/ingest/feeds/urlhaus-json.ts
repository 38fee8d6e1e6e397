import { type Format, type Item, reject } from '../format.ts';
import { isObject, type JsonFind, jsonText, readJson } from '../json.ts';
import { toText } from '../values.ts';
import { readUrlhausRow, toUrl } from './urlhaus-row.ts';

/** An object keyed by id whose values are lists of one record, or a list of records. */
export const urlhausJson: Format = {
  name: 'urlhaus-json',
  summary: 'URLhaus URL dump as JSON: full, recent or online',
  async *read(source, limits) {
    for await (const finds of readJson(source.bytes(), source.name, limits, ['$.*'])) yield finds.flatMap(toItems);
  },
};

function toItems({ value, line }: JsonFind): Item[] {
  return (Array.isArray(value) ? value : [value]).map((record) => toItem(record, line));
}

function toItem(record: unknown, line: number): Item {
  const text = jsonText(record);
  if (!isObject(record)) return reject(line, text, 'an object with the record is needed');
  const reading = readUrlhausRow({
    dateadded: record.dateadded,
    url: toUrl(record.url),
    urlStatus: toText(record.url_status),
    lastOnline: record.last_online,
    reporter: toText(record.reporter),
  });
  if (typeof reading === 'string') return reject(line, text, reading);
  return { kind: 'observations', line, text, inputs: reading.inputs };
}
