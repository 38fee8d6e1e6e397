import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadAccount, Phase } from './accounts.ts';
import { type Connection, openConnection, type RawResponse, type Received } from './connection.ts';
import type { Outages } from './outages.ts';
import type { Problems } from './problems.ts';
import { errorFault, type LoadRequest } from './requests.ts';

type GeneratorOptions = {
  port: number;
  accounts: readonly LoadAccount[];
  requests: readonly LoadRequest[];
  outages: Outages;
  problems: Problems;
};

/** What happened since the previous report. */
export type Report = {
  seconds: number;
  answered: number;
  /** Requests that were due, but had no free connection. */
  unsent: number;
  p50Ms: number;
  p99Ms: number;
  /** By status, or `lost`. */
  statuses: Record<string, number>;
};

/** Sends requests over many connections, and checks and counts every response. */
export type Generator = {
  /** Sends the next request as soon as a connection is free. Returns the responses per second. */
  runAtPeak(ms: number): Promise<number>;
  /** Sends this many requests a second, until the next call. */
  setRate(perSecond: number): void;
  /** Sends one more request, checked and counted like all others. The status is null if the response was lost. */
  ask(request: LoadRequest, account: LoadAccount): Promise<number | null>;
  report(): Report;
  /** Sends nothing any more, and waits for the responses that are missing. */
  stop(): Promise<void>;
  close(): void;
};

type Sent = { request: LoadRequest; account: LoadAccount; phase: number; sentMs: number };

/** As many as a busy proxy in front of the server would have. */
const CONNECTIONS = 64;
/** The server allows eight open streams per account; a client that has as many reads one first. */
const STREAMS_PER_ACCOUNT = 7;
/** Longer than any time-out of the server. */
const RESPONSE_TIMEOUT_MS = 60_000;
const TICK_MS = 5;
/** Requests that could not be sent within this time are not sent later: the rate never exceeds the chosen one. */
const MAX_DELAY_SECONDS = 0.1;

export function createGenerator({ port, accounts, requests, outages, problems }: GeneratorOptions): Generator {
  const open = () => openConnection(port, (text) => problems.add('bytes without a request', text));
  const free = Array.from({ length: CONNECTIONS }, () => open());
  const connections = [...free];
  const asking = new Set<Connection>();
  const shares = accounts.flatMap((account) => Array.from({ length: account.parts }, () => account));
  const timesUs = createHistogram({ lowest: 1, highest: RESPONSE_TIMEOUT_MS * 2_000, figures: 2 });
  let mode: 'idle' | 'peak' | 'rate' = 'idle';
  let perSecond = 0;
  let due = 0;
  let tickedMs = performance.now();
  let next = 0;
  let answered = 0;
  let unsent = 0;
  let reportedMs = performance.now();
  let statuses: Record<string, number> = {};

  /** The next request that its account may send now. */
  function nextRequest(): { request: LoadRequest; account: LoadAccount } {
    for (;;) {
      const n = next++;
      const request = requests[n % requests.length] as LoadRequest;
      // Another factor than for the requests, so that every account sends every request in time.
      const account = shares[(n * 7 + Math.floor(n / requests.length)) % shares.length] as LoadAccount;
      if (!request.isStream || account.openStreams < STREAMS_PER_ACCOUNT) return { request, account };
    }
  }

  function send(
    connection: Connection,
    request: LoadRequest,
    account: LoadAccount,
    onDone: (status: number | null) => void,
  ): void {
    const phase = account.phases.length - 1;
    const { authorization } = account.phases[phase] as Phase;
    const sent: Sent = { request, account, phase, sentMs: Date.now() };
    const startedMs = performance.now();
    if (request.isStream) account.openStreams++;
    connection.send(`${request.head}Authorization: ${authorization}\r\n\r\n${request.body}`, (received) => {
      if (request.isStream) account.openStreams--;
      timesUs.record(Math.max(1, Math.round((performance.now() - startedMs) * 1_000)));
      answered++;
      const name = String(received.response?.status ?? 'lost');
      statuses[name] = (statuses[name] ?? 0) + 1;
      count(sent, received);
      const fault = faultOf(sent, received, outages);
      if (fault !== null) problems.add(`${request.name}: ${fault}`, exampleOf(sent, received));
      onDone(received.response?.status ?? null);
    });
  }

  /** Sends what is due over the connections that are free. The longest unused one is first, so that none gets old. */
  function pump(): void {
    while (free.length > 0 && (mode === 'peak' || (mode === 'rate' && due >= 1))) {
      if (mode === 'rate') due--;
      const connection = free.shift() as Connection;
      const { request, account } = nextRequest();
      send(connection, request, account, () => {
        free.push(connection);
        pump();
      });
    }
  }

  const ticker = setInterval(() => {
    const nowMs = performance.now();
    if (mode === 'rate') {
      due += (perSecond * (nowMs - tickedMs)) / 1_000;
      const excess = Math.max(0, due - Math.max(1, perSecond * MAX_DELAY_SECONDS));
      due -= excess;
      unsent += excess;
    }
    tickedMs = nowMs;
    pump();
  }, TICK_MS);

  const expiry = setInterval(() => {
    for (const connection of [...connections, ...asking]) connection.expire(performance.now() - RESPONSE_TIMEOUT_MS);
  }, 1_000);

  async function stop(): Promise<void> {
    mode = 'idle';
    while (free.length < connections.length || asking.size > 0) await sleep(TICK_MS);
  }

  return {
    async runAtPeak(ms) {
      const [before, startMs] = [answered, performance.now()];
      mode = 'peak';
      pump();
      await sleep(ms);
      return (answered - before) / ((performance.now() - startMs) / 1_000);
    },
    setRate(rate) {
      mode = 'rate';
      perSecond = rate;
      due = 0;
    },
    ask(request, account) {
      const connection = open();
      asking.add(connection);
      return new Promise((resolve) => {
        send(connection, request, account, (status) => {
          asking.delete(connection);
          connection.close();
          resolve(status);
        });
      });
    },
    report() {
      const nowMs = performance.now();
      const [p50Ms, p99Ms] = [50, 99].map((share) => timesUs.percentile(share) / 1_000) as [number, number];
      const report = {
        seconds: (nowMs - reportedMs) / 1_000,
        answered,
        unsent: Math.round(unsent),
        p50Ms,
        p99Ms,
        statuses,
      };
      timesUs.reset();
      [answered, unsent, reportedMs, statuses] = [0, 0, nowMs, {}];
      return report;
    },
    stop,
    close() {
      mode = 'idle';
      clearInterval(ticker);
      clearInterval(expiry);
      for (const connection of [...connections, ...asking]) connection.close();
    },
  };
}

/** By the status alone, as the server counts: a wrong body does not change what was counted. */
function count({ request: { weight }, account }: Sent, { response }: Received): void {
  if (response === null) account.uncertain += weight;
  else if (response.status === 200 || response.status === 404) account.charged += weight;
}

const RETRY_AFTER = /\r\nretry-after: [1-9]\d*\r\n/;
const CHALLENGE = '\r\nwww-authenticate: bearer';

/** Why the contract does not allow this response at this time; null if it does. */
function faultOf(sent: Sent, { response, fault }: Received, outages: Outages): string | null {
  const isOutage = () => outages.includes(sent.sentMs, Date.now());
  if (response === null) return isOutage() ? null : fault;
  try {
    return responseFault(sent, response, isOutage);
  } catch (error) {
    return `${response.status} with a body that is not JSON (${(error as Error).name})`;
  }
}

function responseFault(
  { request, account, phase }: Sent,
  response: RawResponse,
  isOutage: () => boolean,
): string | null {
  const { status } = response;
  const phases = account.phases.length - 1 === phase ? [account.phases[phase] as Phase] : account.phases.slice(phase);
  if (status === request.status) {
    if (!phases.some(({ isAccepted }) => isAccepted)) return `${status}, although the account was refused before`;
    const fault = request.faultOf(response);
    return fault === null ? null : `${status}, ${fault}`;
  }
  const isAllowed =
    phases.some(({ refusal }) => refusal === status) ||
    (status === 429 && account.isLimited && request.weight > 0) ||
    ((status === 503 || status === 408) && isOutage());
  if (!isAllowed) return String(status);
  if ((status === 429 || status === 503) && !RETRY_AFTER.test(response.head)) return `${status} without Retry-After`;
  if (status === 401 && !response.head.includes(CHALLENGE)) return `${status} without WWW-Authenticate`;
  const fault = errorFault(status)(response.body);
  return fault === null ? null : `${status}, ${fault}`;
}

function exampleOf({ request, account, sentMs }: Sent, { response, fault }: Received): string {
  const outcome = response === null ? fault : `${response.status} ${response.body}`;
  const time = new Date(sentMs).toISOString().slice(11, 23);
  return `${time} ${account.username}: ${request.head.split(' HTTP', 1)[0]} ${request.body} → ${outcome}`;
}
