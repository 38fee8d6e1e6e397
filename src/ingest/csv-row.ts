const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/** The fields of a whole row; `open` when its last quoted field has no end. */
export function splitRow(text: string): string[] | 'open' | 'malformed' {
  const fields: string[] = [];
  for (let at = 0; ; at += 1) {
    let start = at;
    while (text.charCodeAt(start) === SPACE) start += 1;
    if (text.charCodeAt(start) === QUOTE) {
      const end = closingQuote(text, start + 1);
      if (end === -1) return 'open';
      fields.push(unescaped(text.slice(start + 1, end)));
      at = end + 1;
    } else {
      const comma = text.indexOf(',', at);
      const field = text.slice(at, comma === -1 ? text.length : comma);
      if (field.includes('"')) return 'malformed';
      fields.push(field);
      at += field.length;
    }
    if (at === text.length) return fields;
    if (text.charCodeAt(at) !== COMMA) return 'malformed';
  }
}

function closingQuote(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) end = text.indexOf('"', end + 2);
  return end;
}

function unescaped(field: string): string {
  return field.includes('"') ? field.replaceAll('""', '"') : field;
}

export function hasOddQuotes(text: string): boolean {
  let quotes = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
}
