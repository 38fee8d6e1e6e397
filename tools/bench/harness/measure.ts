import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { request } from 'node:http';

/** How many lines an answer has. */
export async function countLines(url: string, authorization: string, body: object): Promise<number> {
  const sent = request(url, { method: 'POST', headers: { authorization } });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
  }
  return lines;
}

/** Resident memory of a process that is no file: what a mapped database takes does not count. */
export function memoryMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Brings a file into the cache of the system, so that a row tells of the database and not of the disk under it. */
export async function readThrough(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: 1024 * 1024 }));
}
