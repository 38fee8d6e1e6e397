import { crc32, deflateRawSync } from 'node:zlib';

export type ZipEntry = {
  name: string;
  data?: Buffer;
  isStored?: boolean;
  isEncrypted?: boolean;
  /** False values in the headers. */
  claimedBytes?: number;
  claimedCrc?: number;
};

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** A zip file (PKWARE APPNOTE 4.3), with true or false headers. */
export function zipOf(...entries: ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { name, data = Buffer.alloc(0), isStored = false } = entry;
    const packed = isStored ? data : deflateRawSync(data);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(entry.isEncrypted ? 1 : 0, 2);
    shared.writeUInt16LE(isStored ? 0 : 8, 4);
    shared.writeUInt32LE(entry.claimedCrc ?? crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(entry.claimedBytes ?? data.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([uint32(LOCAL), shared, Buffer.from(name), packed]);
    const places = Buffer.alloc(14);
    places.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([uint32(CENTRAL), Buffer.from([20, 3]), shared, places, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, uint32(END), end]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
