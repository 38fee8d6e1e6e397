/** Bytes as a string of one character each: a byte array would be sent to another thread with its own buffer. */
export type ByteText = string;

export const toByteText = (bytes: Uint8Array): ByteText => bufferOf(bytes).toString('latin1');

export function toBytes(text: ByteText): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** Hexadecimal digits, which sort like the bytes. */
export const toHex = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex');

/** Without a copy. */
const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
