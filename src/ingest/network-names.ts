/**
 * Names of networks by AS number. One text and two typed arrays, because a Map of 80,000 texts takes several times the
 * memory of the texts.
 */
export type NetworkNames = {
  /** Sorted. */
  asns: Uint32Array;
  /** Where the name of the same index ends in `bytes`; it begins where the one before ends. */
  ends: Uint32Array;
  bytes: Uint8Array;
};

/** Collects names while tables are read; the first name of an AS number is kept. */
export type NameCollector = { add(asn: number, name: Buffer): void; finish(): NetworkNames };

const QUOTE = 0x22;
const utf8 = new TextDecoder();

export function collectNames(): NameCollector {
  const byAsn = new Map<number, Buffer>();
  return {
    add(asn, name) {
      if (asn !== 0 && name.length > 0 && !byAsn.has(asn)) byAsn.set(asn, name);
    },
    finish() {
      const asns = Uint32Array.from(byAsn.keys()).sort();
      const ends = new Uint32Array(asns.length);
      const names = Array.from(asns, (asn) => byAsn.get(asn) ?? Buffer.alloc(0));
      let end = 0;
      for (const [i, name] of names.entries()) {
        end += name.length;
        ends[i] = end;
      }
      return { asns, ends, bytes: Buffer.concat(names) };
    },
  };
}

/** Null if the table has no name for this AS number. */
export function nameIn({ asns, ends, bytes }: NetworkNames, asn: number): string | null {
  let low = 0;
  let high = asns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((asns[middle] as number) < asn) low = middle + 1;
    else high = middle;
  }
  if (asns[low] !== asn) return null;
  return unquoted(bytes.subarray(low === 0 ? 0 : ends[low - 1], ends[low]));
}

/** A field of a CSV file: `"Example, Inc."` is quoted, and a quote inside it is doubled. */
function unquoted(field: Uint8Array): string {
  const text = utf8.decode(field).trim();
  const isQuoted = field[0] === QUOTE && text.length >= 2 && text.endsWith('"');
  return isQuoted ? text.slice(1, -1).replaceAll('""', '"') : text;
}
