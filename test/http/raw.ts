import { open } from './transport.ts';

/** A response, parsed from the bytes of a connection. */
export type RawResponse = { statusCode: number; headers: Record<string, string>; body: string };

/** Longer than any response takes. Without it, a server that does not respond would end the whole file, by its time limit. */
const MAX_IDLE_MS = 60_000;

/** Sends bytes and returns everything received until the server closed the connection. */
export function exchange(
  port: number,
  bytes: string | Buffer,
  host?: string,
): Promise<{ text: string; reset: boolean }> {
  return new Promise((resolve) => {
    const socket = open(port, host);
    let text = '';
    let reset = false;
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {
      reset = true;
    });
    socket.on('close', () => resolve({ text, reset }));
    socket.setTimeout(MAX_IDLE_MS, () => socket.destroy());
    socket.write(bytes);
  });
}

/** All responses in a text, in order. Throws on any other text. Responses to HEAD are not supported. */
export function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (!rest.startsWith('HTTP/1.1 ') || end === -1)
      throw new Error(`not a response: ${JSON.stringify(rest.slice(0, 200))}`);
    const [statusLine = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(fields.map((field) => splitField(field)));
    const statusCode = Number(statusLine.split(' ')[1]);
    const { body, length } = takeBody(rest.slice(end + 4), headers, statusCode);
    responses.push({ statusCode, headers, body });
    rest = rest.slice(end + 4 + length);
  }
  return responses;
}

type Body = { body: string; length: number };

/** RFC 9112 §6.3. Without a length, as in HTTP/1.0, the body ends when the connection closes. */
function takeBody(text: string, headers: Record<string, string>, status: number): Body {
  if (status < 200 || status === 204) return { body: '', length: 0 };
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(text);
  const length = Number(headers['content-length'] ?? text.length);
  if (length > text.length) throw new Error(`the response is incomplete: ${JSON.stringify(text)}`);
  return { body: text.slice(0, length), length };
}

function takeChunks(text: string): Body {
  let body = '';
  for (let at = 0; ; ) {
    const start = text.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(text.slice(at, start), 16);
    if (start === 1 || Number.isNaN(size)) throw new Error(`the chunks are incomplete: ${JSON.stringify(text)}`);
    body += text.slice(start, start + size);
    at = start + size + 2;
    if (size === 0) return { body, length: at };
  }
}

function splitField(field: string): [string, string] {
  const colon = field.indexOf(':');
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}
