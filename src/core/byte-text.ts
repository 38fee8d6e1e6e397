/** Bytes as a string of one character each: a byte array would be sent to another thread with its own buffer. */
export type ByteText = string;

export const toByteText = (bytes: Uint8Array): ByteText => bufferOf(bytes).toString('latin1');

export const sliceToByteText = (bytes: Uint8Array, from: number, to: number): ByteText =>
  bufferOf(bytes).toString('latin1', from, to);

export function toBytes(text: ByteText): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** Hexadecimal digits, which sort like the bytes. */
export const toHex = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex');

/** Without a copy. Most are buffers: to create another one takes longer than to read its bytes. */
const bufferOf = (bytes: Uint8Array) =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
