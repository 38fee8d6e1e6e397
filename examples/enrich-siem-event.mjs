#!/usr/bin/env node
// Adds what Urlwarden knows to security events: NDJSON on standard input, NDJSON on standard output, in the same order.
//
//   some-shipper | node enrich-siem-event.mjs | some-loader
//
// Events use the field names of the Elastic Common Schema, nested or with dots: url.full, url.original or url,
// destination.ip, file.hash.sha256. An event that matches gets these keys at its end:
//
//   "urlwarden": {"url": …the answer of url/last, "ip": […the newest three URLs], "sha256": […the newest three URLs]}
//   "threat": {"enrichments": […]}   only if the event has no threat.* yet
//
// Every other event is passed on byte for byte. So is an event that cannot be looked up, because the server is down or
// refuses: no event is lost, and none waits for more than a few seconds.
//
// Exit code: 0 all events were looked up, 1 some were not; standard error says why.
// Variables: WARDEN_URL, WARDEN_USERNAME, WARDEN_PASSWORD (default: the demo server and its account).

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const BASE = (process.env.WARDEN_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, '');
const USERNAME = process.env.WARDEN_USERNAME ?? 'demo@example.com';
const PASSWORD = process.env.WARDEN_PASSWORD ?? 'demo';

const KINDS = {
  'url.full': 'url',
  'url.original': 'url',
  url: 'url',
  'destination.ip': 'ip',
  'file.hash.sha256': 'sha256',
};
const CONCURRENT_EVENTS = 8;
const TIMEOUT_MS = 5_000;
const MAX_WAIT_MS = 3_000; // for a limit per second; no event waits for the other limits
const PAUSE_SECONDS = 10; // no lookups for this long after a failure
const CACHE_MS = 300_000;
const CACHE_ENTRIES = 10_000;
const SEARCH = { days: 30, records: 10_000, newest: 3 }; // records come in any order, so the newest are selected here

let login = null; // the promise of a token, shared by all lookups
let paused = { untilMs: 0, reason: '' };
let reported = '';
const answers = new Map(); // promises, by what was asked
setInterval(() => answers.clear(), CACHE_MS).unref();

function pause(seconds, reason) {
  const untilMs = Date.now() + seconds * 1000;
  if (untilMs > paused.untilMs) paused = { untilMs, reason };
}

/** Throws when the server is down, or refuses for longer than an event may wait. */
async function post(path, body, headers = {}) {
  const deadlineMs = Date.now() + MAX_WAIT_MS;
  for (;;) {
    if (paused.untilMs > deadlineMs) throw new Error(paused.reason);
    await sleep(Math.max(0, paused.untilMs - Date.now()));
    const options = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(TIMEOUT_MS) };
    try {
      const response = await fetch(BASE + path, options);
      const text = await response.text();
      const isFailure = [403, 408, 429].includes(response.status) || response.status >= 500;
      const noneLeft = /;r=0;t=(\d+)/.exec(response.headers.get('ratelimit')); // RateLimit: "rl_qps";r=0;t=1
      if (isFailure) pause(Number(response.headers.get('retry-after')) || PAUSE_SECONDS, `${BASE} answered ${text}`);
      else if (noneLeft) pause(Number(noneLeft[1]), 'A limit of the account is reached');
      if (!isFailure) return { status: response.status, text };
    } catch (error) {
      pause(PAUSE_SECONDS, `${BASE} cannot be reached: ${error.cause?.code ?? error.message}`);
    }
  }
}

async function logIn() {
  const { status, text } = await post('/api/v1/login', { username: USERNAME, password: PASSWORD, realm: 'intel' });
  if (status === 200) return { authorization: `Bearer ${JSON.parse(text).token}` };
  pause(Number.POSITIVE_INFINITY, `Login of ${USERNAME} failed: ${text}`); // the next login would fail too
  throw new Error(paused.reason);
}

/** What is known; null when that is nothing, or when the value is not a URL, an address or a hash. */
async function ask(kind, value, isRetry = false) {
  const since = Math.floor(Date.now() / 1000) - SEARCH.days * 86_400;
  const endpoint = kind === 'url' ? 'last' : `search?since=${since}&limit=${SEARCH.records}`;
  login ??= logIn();
  const used = login;
  const dropLogin = () => {
    if (login === used) login = null;
  };
  used.catch(dropLogin);
  const { status, text } = await post(`/api/intel/v2/byobject/url/${endpoint}`, { [kind]: value }, await used);
  if (status === 200) return kind === 'url' ? JSON.parse(text) : newestOf(text);
  if (status !== 401 || isRetry) return null;
  dropLogin(); // the token has expired
  return ask(kind, value, true);
}

function newestOf(ndjson) {
  const lines = ndjson.trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line)).sort((a, b) => a.ts - b.ts);
  const lastOfEach = new Map(records.map((record) => [record.id, record]));
  return [...lastOfEach.values()].sort((a, b) => b.ts - a.ts).slice(0, SEARCH.newest);
}

function lookUp(kind, value) {
  const key = `${kind} ${value}`;
  const answer = answers.get(key) ?? ask(kind, value);
  answer.catch(() => answers.delete(key));
  if (answers.size === CACHE_ENTRIES) answers.clear();
  answers.set(key, answer);
  return answer;
}

const fieldOf = (event, field) => event[field] ?? field.split('.').reduce((part, name) => part?.[name], event);

function parse(line) {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {}; // not JSON, so there is nothing to look up
  }
}

/** The new keys are inserted before the last brace, so that the event's own bytes stay as they are. */
async function enrich(line) {
  const event = parse(line);
  const urlwarden = {};
  const enrichments = [];
  for (const [field, kind] of Object.entries(KINDS)) {
    const atomic = fieldOf(event, field);
    const answer = typeof atomic === 'string' && !(kind in urlwarden) ? await lookUp(kind, atomic) : null;
    if (answer === null) continue;
    urlwarden[kind] = answer;
    enrichments.push({ indicator: { provider: 'urlwarden' }, matched: { field, atomic } });
  }
  if (enrichments.length === 0 || 'urlwarden' in event) return line;
  const hasThreat = Object.keys(event).some((key) => /^threat\b/.test(key));
  const added = JSON.stringify(hasThreat ? { urlwarden } : { urlwarden, threat: { enrichments } });
  const end = line.lastIndexOf('}');
  return Buffer.concat([line.subarray(0, end), Buffer.from(`,${added.slice(1, -1)}`), line.subarray(end)]);
}

async function enrichOrPass(line) {
  try {
    return await enrich(line);
  } catch (error) {
    if (error.message !== reported) process.stderr.write(`Events pass without a lookup: ${error.message}\n`);
    reported = error.message;
    process.exitCode = 1;
    return line;
  }
}

/** Bytes up to and including each newline. */
async function* linesOf(input) {
  let rest = Buffer.alloc(0);
  for await (const chunk of input) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}

const running = [];
let last = Promise.resolve();
process.stdout.on('error', () => process.exit(1)); // the reader has closed the pipe
for await (const line of linesOf(process.stdin)) {
  const enriched = enrichOrPass(line);
  last = last.then(async () => process.stdout.write(await enriched) || once(process.stdout, 'drain'));
  running.push(last);
  if (running.length === CONCURRENT_EVENTS) await running.shift();
}
await last;
