import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { request } from 'node:http';

type Received = { lines: number; bytes: number };

/** Sends a POST and reads the response as it is sent: in a compressed one the count of lines has no meaning. */
export async function receive(url: string, headers: Record<string, string>, body: string): Promise<Received> {
  const sent = request(url, { method: 'POST', headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}`);
  const received = { lines: 0, bytes: 0 };
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received.bytes += chunk.length;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) received.lines++;
  }
  return received;
}

/** The number of lines in the response. */
export async function countLines(url: string, authorization: string, body: object): Promise<number> {
  return (await receive(url, { authorization }, JSON.stringify(body))).lines;
}

/** Anonymous resident memory of a process: mapped files, such as the database, do not count. */
export function memoryMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Ticks per second of the times in /proc, the same on every Linux. */
const TICKS = 100;

/** The processor time that a process has used, of all its threads. The second field may contain spaces. */
export function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Loads a file into the page cache, so that a row measures the database and not the disk. */
export async function loadIntoPageCache(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: 1024 * 1024 }));
}
