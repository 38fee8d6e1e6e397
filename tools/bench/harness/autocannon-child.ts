import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { Counted, Requests } from './load.ts';

// Sends the same requests when wrk is not installed. `load.ts` starts this process.

const [url = '', file = '', seconds, connections] = process.argv.slice(2);
const { method, headers, paths, bodies, status }: Requests = JSON.parse(readFileSync(file, 'utf8'));
let at = 0;

const instance = autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  requests: [
    {
      method,
      headers,
      setupRequest(request) {
        const i = at++;
        const body = bodies[i % bodies.length];
        return { ...request, path: paths[i % paths.length] ?? '/', ...(body !== undefined && { body }) };
      },
    },
  ],
});
const { requests, duration, latency, errors, '4xx': refused, '5xx': failed, statusCodeStats } = await instance;
const counted: Counted = {
  total: requests.total,
  refused: refused + failed,
  other: status === undefined ? 0 : requests.total - (statusCodeStats?.[`${status}`]?.count ?? 0),
  broken: errors,
  seconds: duration,
  p50Ms: latency.p50,
};
process.send?.(counted);
process.disconnect();
