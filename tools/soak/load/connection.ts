import { connect, type Socket } from 'node:net';

/** Head and body as latin1, which has one character per byte, so that lengths are right. */
export type RawResponse = { status: number; head: string; body: string };

/** `fault`: why there is no complete response. */
export type Received = { response: RawResponse; fault: null } | { response: null; fault: string };

/** A keep-alive connection with one request at a time. It reconnects by itself. */
export type Connection = {
  send(request: string, onReceived: (received: Received) => void): void;
  /** Gives up the request if it was sent before this time. */
  expire(sentBeforeMs: number): void;
  close(): void;
};

/**
 * `onStray` gets bytes that belong to no request. `node:http` is not used: its client needs more processor time for a
 * request than the server under test, on the same cores. This client also notices a response that is cut off or longer
 * than announced.
 */
export function openConnection(port: number, onStray: (text: string) => void): Connection {
  let socket: Socket | null = null;
  let text = '';
  let waiting: { onReceived: (received: Received) => void; sentMs: number } | null = null;

  function finish(received: Received): void {
    const done = waiting;
    waiting = null;
    text = '';
    done?.onReceived(received);
  }

  function drop(fault: string): void {
    const dropped = socket;
    socket = null;
    dropped?.destroy();
    finish({ response: null, fault });
  }

  function read(chunk: string): void {
    text += chunk;
    if (waiting === null) onStray(text);
    const parsed = waiting === null ? 'malformed' : parseResponse(text);
    if (parsed === 'incomplete') return;
    if (parsed === 'malformed') {
      drop('a response that is not HTTP, or longer than it says');
      return;
    }
    if (parsed.head.includes('\r\nconnection: close\r\n')) {
      socket?.destroy();
      socket = null;
    }
    finish({ response: parsed, fault: null });
  }

  function open(): Socket {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true });
    opened.setEncoding('latin1');
    opened.on('data', (chunk) => {
      if (socket === opened) read(String(chunk));
    });
    let reason = 'the connection was closed';
    opened.on('error', (error) => {
      reason = error.message;
    });
    opened.on('close', () => {
      if (socket === opened) drop(text === '' ? reason : `${reason} in the middle of a response`);
    });
    return opened;
  }

  return {
    send(request, onReceived) {
      waiting = { onReceived, sentMs: performance.now() };
      socket ??= open();
      socket.write(request, 'latin1');
    },
    expire(sentBeforeMs) {
      if (waiting !== null && waiting.sentMs < sentBeforeMs) drop('no response in time');
    },
    close() {
      drop('closed by the client');
    },
  };
}

function parseResponse(text: string): RawResponse | 'incomplete' | 'malformed' {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return 'incomplete';
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  if (status === undefined) return 'malformed';
  const head = text.slice(0, headEnd + 2).toLowerCase();
  const body = bodyOf(text, headEnd + 4, head);
  return typeof body === 'string' ? body : { status: Number(status), head, body: body.text };
}

type Body = { text: string } | 'incomplete' | 'malformed';

function bodyOf(text: string, start: number, head: string): Body {
  const length = /\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1];
  if (length === undefined)
    return head.includes('\r\ntransfer-encoding: chunked\r\n') ? chunks(text, start) : 'malformed';
  const missing = start + Number(length) - text.length;
  if (missing > 0) return 'incomplete';
  return missing < 0 ? 'malformed' : { text: text.slice(start) };
}

const LAST_CHUNK = '0\r\n\r\n';

/** RFC 9112 §7.1 */
function chunks(text: string, start: number): Body {
  if (!text.endsWith(LAST_CHUNK)) return 'incomplete'; // most of the time, known without decoding
  let body = '';
  for (let at = start; at < text.length; ) {
    const sizeEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, sizeEnd), 16);
    if (sizeEnd === -1 || Number.isNaN(size)) return 'malformed';
    if (size === 0) return text.slice(at) === LAST_CHUNK ? { text: body } : 'malformed';
    body += text.slice(sizeEnd + 2, sizeEnd + 2 + size);
    at = sizeEnd + 2 + size + 2;
  }
  return 'incomplete';
}
