#!/usr/bin/env node
// Reads a proxy log and prints each line whose URL Urlwarden knows, after its status and its malware family:
//
//   node check-proxy-log.mjs /var/log/squid/access.log
//   tail -F /var/log/squid/access.log | node check-proxy-log.mjs
//
// It reads squid's native format and the combined log format. A line without a whole URL is skipped: a tunnel
// (CONNECT host:443) hides its URL from the proxy.
//
// Exit code: 0 no URL is online, 1 at least one URL is online, 2 the check failed.
//
// Variables: WARDEN_URL, WARDEN_USERNAME, WARDEN_PASSWORD (default: the demo server and its account), and
// WARDEN_MAX_WAIT_SECONDS, the longest wait for a limit of the account. The default of one hour is enough for the limits
// per second, minute and hour; when the limit of the month is reached, the check fails immediately.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const BASE = (process.env.WARDEN_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, '');
const USERNAME = process.env.WARDEN_USERNAME ?? 'demo@example.com';
const PASSWORD = process.env.WARDEN_PASSWORD ?? 'demo';
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const MAX_WAIT_MS = Math.min(Number(process.env.WARDEN_MAX_WAIT_SECONDS ?? 3600) * 1000, LONGEST_TIMER_MS);

const CONCURRENCY = 8;
const TIMEOUT_MS = 30_000;
const DEFAULT_RETRY_SECONDS = 5; // for a 429 or 503 of a proxy that sends no Retry-After
const NO_ANSWER = 'without an answer of Urlwarden'; // the body was cut off, or is that of a proxy

// 1768471200.123    87 192.0.2.10 TCP_MISS/200 4312 GET http://203.0.113.7/bin.sh - HIER_DIRECT/203.0.113.7 text/plain
const SQUID = /^\d+\.\d+\s+-?\d+ \S+ \S+\/\d+ \d+ \S+ (\S+) /;
// 192.0.2.10 - - [15/Jan/2026:10:00:00 +0000] "GET http://203.0.113.7/bin.sh HTTP/1.1" 200 4312 "-" "curl/8.5.0"
const COMBINED = /^\S+ \S+ .*?\[[^\]]+\] "\S+ (\S+)[^"]*" \d{3} /;
const WHOLE_URL = /^(?:https?|ftp):\/\//i;

let login; // the promise of a token; all requests share it
let pausedUntilMs = 0; // no request is sent before this time

async function post(path, body, headers = {}) {
  const deadlineMs = Date.now() + MAX_WAIT_MS;
  for (;;) {
    if (pausedUntilMs > deadlineMs)
      throw new Error(`${BASE} asks to wait until ${new Date(pausedUntilMs).toISOString()}`);
    await sleep(Math.max(0, pausedUntilMs - Date.now()));
    const options = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(TIMEOUT_MS) };
    const response = await fetch(BASE + path, options).catch((error) => {
      throw new Error(`${BASE} cannot be reached: ${error.cause?.code ?? error.message}`);
    });
    const answer = await response.json().catch(() => ({}));
    const isRefused = response.status === 429 || response.status === 503;
    pausedUntilMs = Math.max(pausedUntilMs, Date.now() + pauseSeconds(response.headers, isRefused) * 1000);
    if (!isRefused) return { status: response.status, answer };
  }
}

/** Retry-After after a refusal; and as soon as a limit has nothing left (RateLimit: "rl_qps";r=0;t=1), its t. */
function pauseSeconds(headers, isRefused) {
  if (isRefused) return Number(headers.get('retry-after')) || DEFAULT_RETRY_SECONDS;
  return Number(/;r=0;t=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? 0);
}

async function logIn() {
  const { status, answer } = await post('/api/v1/login', { username: USERNAME, password: PASSWORD, realm: 'intel' });
  if (status !== 200) throw new Error(`Login of ${USERNAME} at ${BASE} failed: ${status} ${answer.message ?? ''}`);
  return answer.token;
}

/** What Urlwarden knows about the URL; null when that is nothing. */
async function lookUp(url) {
  for (let tries = 1; ; tries += 1) {
    login ??= logIn();
    const used = login;
    const headers = { authorization: `Bearer ${await used}` };
    const { status, answer } = await post('/api/intel/v2/byobject/url/last', { url }, headers);
    if (status === 200 && answer.id !== undefined) return answer;
    if ([400, 404, 413].includes(answer.code)) return null; // not known, or not a URL that could be known
    if (status !== 401 || tries === 2) throw new Error(`${BASE} answered ${status} ${answer.message ?? NO_ANSWER}`);
    if (login === used) login = undefined; // the token has expired: tail -F can run for days
  }
}

function print(line, answer) {
  if (answer === null) return;
  const status = answer.status?.status ?? 'unknown';
  process.stdout.write(`${status}\t${answer.payload?.['malware-family'] ?? '-'}\t${line}\n`);
  if (status === 'online') process.exitCode = 1;
}

function stop(error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}

async function check(input) {
  const answers = new Map(); // the promise of an answer by URL: each URL is looked up once
  const running = [];
  let last = Promise.resolve();
  let unread = 0;
  let read = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const url = (SQUID.exec(line) ?? COMBINED.exec(line))?.[1];
    if (url === undefined) unread += 1;
    else read += 1;
    if (url === undefined || !WHOLE_URL.test(url)) continue;
    if (!answers.has(url)) answers.set(url, lookUp(url));
    const answer = answers.get(url);
    answer.catch(stop);
    last = last.then(async () => print(line, await answer)); // in the order of the log
    running.push(last);
    if (running.length === CONCURRENCY) await running.shift();
  }
  await last;
  if (read === 0 && unread > 0) throw new Error("No line has squid's native format or the combined log format.");
}

const [file = '-'] = process.argv.slice(2);
check(file === '-' ? process.stdin : createReadStream(file)).catch(stop);
