/** Bytes as a string of one character each: a byte array would be sent to another thread with its own buffer. */
export type ByteText = string;

export function toByteText(bytes: Uint8Array): ByteText {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

export function toBytes(text: ByteText): Uint8Array {
  return Buffer.from(text, 'latin1');
}
