import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';

// A capture file (pcap) of a few conversations, for programs that look at traffic.

const CLIENT = [192, 0, 2, 10];
const SERVER = [198, 51, 100, 20];
/** The packets begin with their IP header. */
const LINKTYPE_RAW = 101;

const TCP = 6;
const UDP = 17;
const SYN = 0x02;
const ACK = 0x10;
const PSH = 0x08;

/** Each conversation has a client port of its own. */
export type Conversation = { dns: string } | { port: number; request: Buffer };

export function captureFile(conversations: readonly Conversation[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(65_535, 16);
  header.writeUInt32LE(LINKTYPE_RAW, 20);
  const packets = conversations.flatMap((conversation, i) =>
    'dns' in conversation
      ? [udpPacket(20_000 + i, 53, dnsQuery(conversation.dns))]
      : tcpPackets(20_000 + i, conversation.port, conversation.request),
  );
  return Buffer.concat([header, ...packets.map(record)]);
}

function record(packet: Buffer, index: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(1_790_000_000, 0);
  header.writeUInt32LE(index, 4);
  header.writeUInt32LE(packet.length, 8);
  header.writeUInt32LE(packet.length, 12);
  return Buffer.concat([header, packet]);
}

/** Without checksums. */
function ipPacket(protocol: number, isFromClient: boolean, payload: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + payload.length, 2);
  header[8] = 64;
  header[9] = protocol;
  header.set(isFromClient ? CLIENT : SERVER, 12);
  header.set(isFromClient ? SERVER : CLIENT, 16);
  return Buffer.concat([header, payload]);
}

function udpPacket(from: number, to: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(from, 0);
  header.writeUInt16BE(to, 2);
  header.writeUInt16BE(8 + payload.length, 4);
  return ipPacket(UDP, true, Buffer.concat([header, payload]));
}

function dnsQuery(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([Buffer.from('000101000001000000000000', 'hex'), ...labels, Buffer.from('0000010001', 'hex')]);
}

/** The handshake, the request in segments, and their acknowledgement. */
function tcpPackets(from: number, to: number, request: Buffer): Buffer[] {
  const segment = (
    isFromClient: boolean,
    flags: number,
    sequence: number,
    acknowledged: number,
    data: Buffer = Buffer.alloc(0),
  ) => {
    const header = Buffer.alloc(20);
    header.writeUInt16BE(isFromClient ? from : to, 0);
    header.writeUInt16BE(isFromClient ? to : from, 2);
    header.writeUInt32BE(sequence, 4);
    header.writeUInt32BE(acknowledged, 8);
    header[12] = 0x50;
    header[13] = flags;
    header.writeUInt16BE(65_535, 14);
    return ipPacket(TCP, isFromClient, Buffer.concat([header, data]));
  };
  const packets = [segment(true, SYN, 100, 0), segment(false, SYN | ACK, 500, 101), segment(true, ACK, 101, 501)];
  for (let sent = 0; sent < request.length; sent += 1_400) {
    const data = request.subarray(sent, sent + 1_400);
    packets.push(segment(true, PSH | ACK, 101 + sent, 501, data));
    packets.push(segment(false, ACK, 501, 101 + sent + data.length));
  }
  return packets;
}

/** The first bytes that a client sends to a server of this name. */
export async function tlsHello(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, servername });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}
