/** Mutants that no test can kill, because the program behaves in the same way. `line`: the text of the line, trimmed. */
export type Equivalent = { line: string; changes: readonly string[]; reason: string };

/** By file. An entry whose mutant does not survive is reported by `npm run mutate`. */
export const EQUIVALENT: Record<string, readonly Equivalent[]> = {
  'src/accounts/login-failures.ts': [
    {
      line: 'Math.max(pairs.waitMs(pair, nowMs), isKnown ? 0 : addresses.waitMs(address, nowMs)),',
      changes: ['isKnown ? 0 : addresses.waitMs(address, nowMs) → isKnown ? (-1) : addresses.waitMs(address, nowMs)'],
      reason: 'The wait of the pair is never below 0.',
    },
  ],
  'src/accounts/login-penalty.ts': [
    {
      line: 'const [oldest = 0, ...others] = recent(account, nowMs);',
      changes: ['oldest = 0 → oldest = 1', 'oldest = 0 → oldest = (-1)'],
      reason: 'It is used only after many logins; the compiler needs the default.',
    },
  ],
  'src/config/redis-url.ts': [
    {
      line: 'percentDecoded(text.slice(0, Math.max(colon, 0))),',
      changes: ['Math.max(colon, 0) → Math.max(colon, (-1))'],
      reason: 'Without a colon the text is refused in the next line.',
    },
  ],
  'src/core/errors.ts': [
    {
      line: "if (code !== 'unavailable' && code !== 'damaged') Error.stackTraceLimit = 0;",
      changes: ['Error.stackTraceLimit = 0 → Error.stackTraceLimit = (-1)'],
      reason: 'A negative limit also means no frames.',
    },
  ],
  'src/core/ip/address.ts': [
    {
      line: 'const IPV6_TEXT_MAX_LENGTH = 45;',
      changes: ['IPV6_TEXT_MAX_LENGTH = 45 → IPV6_TEXT_MAX_LENGTH = 46'],
      reason: 'No text of 46 characters is an address; the limit only saves work.',
    },
    {
      line: 'if (text.length > IPV6_TEXT_MAX_LENGTH) return null;',
      changes: ['text.length > IPV6_TEXT_MAX_LENGTH → false'],
      reason: 'No longer text is an address; the limit only saves work.',
    },
    {
      line: 'const NO_OCTET = -1;',
      changes: ['-1 → -2'],
      reason: 'Any negative number means: no octet.',
    },
    {
      line: 'let bits = 0;',
      changes: ['bits = 0 → bits = 1', 'bits = 0 → bits = (-1)'],
      reason: 'Four octets shift the first value out of the 32 bits that are used.',
    },
    {
      line: 'if (octet === NO_OCTET || ++dots > 3) return null;',
      changes: ['++dots > 3 → ++dots > 4'],
      reason: 'The number of dots is checked again at the end.',
    },
    {
      line: 'for (let i = 0; i < IP_BYTES; i += 2) groups.push((key[i] ?? 0) * 256 + (key[i + 1] ?? 0));',
      changes: [
        'key[i] ?? 0 → key[i] ?? 1',
        'key[i] ?? 0 → key[i] ?? (-1)',
        'key[i + 1] ?? 0 → key[i + 1] ?? 1',
        'key[i + 1] ?? 0 → key[i + 1] ?? (-1)',
      ],
      reason: 'A key has sixteen bytes; the compiler needs the default.',
    },
    {
      line: 'let longest = { start: 0, length: 0 };',
      changes: ['start: 0 → start: 1', 'start: 0 → start: (-1)', 'length: 0 → length: 1', 'length: 0 → length: (-1)'],
      reason: 'A run of fewer than two groups is not used.',
    },
  ],
  'src/core/ip/network.ts': [
    {
      line: "const isDotted = !text.slice(0, slash).includes(':');",
      changes: ['text.slice(0, slash) → text.slice(1, slash)'],
      reason: 'An IPv6 address has more than one colon.',
    },
    {
      line: 'const networkBits = Math.min(8, Math.max(0, keyPrefix - 8 * i));',
      changes: ['Math.min(8, Math.max(0, keyPrefix - 8 * i)) → Math.min(9, Math.max(0, keyPrefix - 8 * i))'],
      reason: 'A byte that is shifted by nine bits is 0 as well.',
    },
    {
      line: 'if (compareKeys(from, IPV4_KEYS[0]) > 0 || compareKeys(to, IPV4_KEYS[1]) < 0) return [[from, to]];',
      changes: [
        'IPV4_KEYS[0] → IPV4_KEYS[1]',
        'compareKeys(from, IPV4_KEYS[0]) > 0 → compareKeys(from, IPV4_KEYS[0]) >= 0',
        'compareKeys(from, IPV4_KEYS[0]) > 0 → compareKeys(from, IPV4_KEYS[0]) > (-1)',
        'IPV4_KEYS[1] → IPV4_KEYS[0]',
      ],
      reason: 'No IPv6 network begins or ends inside the keys of IPv4.',
    },
    {
      line: 'for (let i = 0; i < IP_BYTES; i++) {',
      changes: ['i = 0 → i = (-1)', 'i < IP_BYTES → i <= IP_BYTES'],
      reason: 'Bytes outside a key are equal, because both have the default.',
    },
    {
      line: 'const difference = (a[i] ?? 0) - (b[i] ?? 0);',
      changes: [
        'a[i] ?? 0 → a[i] ?? 1',
        'a[i] ?? 0 → a[i] ?? (-1)',
        'b[i] ?? 0 → b[i] ?? 1',
        'b[i] ?? 0 → b[i] ?? (-1)',
      ],
      reason: 'A key has sixteen bytes; the compiler needs the default.',
    },
  ],
  'src/core/observation.ts': [
    {
      line: 'export const STATUS_ORDER: Record<ObservedStatus, number> = { online: 0, offline: 1, removed: 2 };',
      changes: ['online: 0 → online: (-1)', 'removed: 2 → removed: 3'],
      reason: 'Only the order counts.',
    },
  ],
  'src/core/quota.ts': [
    {
      line: 'let lastMonth: Month = { index: 0, startTs: 0, endTs: 0 };',
      changes: [
        'index: 0 → index: 1',
        'index: 0 → index: (-1)',
        'startTs: 0 → startTs: 1',
        'startTs: 0 → startTs: (-1)',
        'endTs: 0 → endTs: (-1)',
      ],
      reason: 'No time since 1970 is in the month that is cached first.',
    },
    {
      line: 'if (ts >= lastMonth.startTs && ts < lastMonth.endTs) return lastMonth;',
      changes: [
        'ts >= lastMonth.startTs && ts < lastMonth.endTs → false',
        'ts >= lastMonth.startTs → ts > lastMonth.startTs',
      ],
      reason: 'The month is computed again with the same result; the cache only saves work.',
    },
  ],
  'src/core/text.ts': [
    {
      line: 'if (text.length <= TEXT_MAX_LENGTH) return false;',
      changes: [
        'text.length <= TEXT_MAX_LENGTH → false',
        'text.length <= TEXT_MAX_LENGTH → text.length < TEXT_MAX_LENGTH',
      ],
      reason: 'Counting the code points has the same result; the comparison only saves work.',
    },
    {
      line: 'return text.length > 2 * TEXT_MAX_LENGTH || [...text].length > TEXT_MAX_LENGTH;',
      changes: ['2 * TEXT_MAX_LENGTH → 3 * TEXT_MAX_LENGTH'],
      reason: 'Counting the code points has the same result; the comparison only saves work.',
    },
  ],
  'src/core/time.ts': [
    {
      line: 'return Math.floor(date.getTime() / 1000);',
      changes: ['Math.floor → Math.ceil'],
      reason: 'The time is a whole number of seconds.',
    },
  ],
  'src/core/url/host.ts': [
    {
      line: "const name = raw.includes('%') ? percentDecoded(raw) : raw; // a `%` that begins no escape is in no host",
      changes: ["raw.includes('%') → true"],
      reason: 'A text without % is its own decoded form; the check only saves work.',
    },
    {
      line: 'if (quad !== null) return { ok: true, host: raw, ip: quad };',
      changes: ['quad !== null → false'],
      reason: 'The rules for other hosts have the same result; this only saves work.',
    },
    {
      line: "const parts = name.split('.', PARTS_MAX + 1);",
      changes: ['PARTS_MAX + 1 → PARTS_MAX + 2'],
      reason: 'Five parts are already too many.',
    },
  ],
  'src/core/url/idna.ts': [
    {
      line: 'return text.length > 2 * maxCodePoints || (text.length > maxCodePoints && [...text].length > maxCodePoints);',
      changes: ['2 * maxCodePoints → 3 * maxCodePoints', 'text.length > maxCodePoints → text.length >= maxCodePoints'],
      reason: 'Counting the code points has the same result; the comparison only saves work.',
    },
    {
      line: 'ignoreInvalidPunycode: false,',
      changes: ['ignoreInvalidPunycode: false → ignoreInvalidPunycode: true'],
      reason: 'Another rule of tr46 refuses the same labels.',
    },
  ],
  'src/core/url/split.ts': [
    {
      line: 'while (start < end && input.charCodeAt(start) <= LAST_BLANK) start++;',
      changes: ['start < end → start <= end'],
      reason: 'After the end the code is NaN, which is not a blank.',
    },
    {
      line: 'while (end > start && input.charCodeAt(end - 1) <= LAST_BLANK) end--;',
      changes: ['end > start → end >= start'],
      reason: 'A slice that ends before its start is empty too.',
    },
    {
      line: "const colon = hostPort.indexOf(':', hostPort.startsWith('[') ? hostPort.indexOf(']') : 0);",
      changes: [
        "hostPort.startsWith('[') ? hostPort.indexOf(']') : 0 → hostPort.startsWith('[') ? hostPort.indexOf(']') : (-1)",
      ],
      reason: 'A search from -1 begins at 0.',
    },
  ],
  'src/database/pages.ts': [
    {
      line: 'const page = items.length > left ? items.slice(0, left) : items;',
      changes: ['items.length > left → true', 'items.length > left → items.length >= left'],
      reason: 'A slice of all items has the same items; the check only saves a copy.',
    },
  ],
  'src/ingest/batch.ts': [
    {
      line: 'if (batch.newestTs === null || ts > batch.newestTs) batch.newestTs = ts;',
      changes: ['ts > batch.newestTs → ts >= batch.newestTs'],
      reason: 'An equal time is the same time.',
    },
    {
      line: 'if (text !== last.text) last = { text, normalized: normalizeUrl(text) };',
      changes: ['text !== last.text → true'],
      reason: 'The same text has the same normal form; keeping it only saves work.',
    },
    {
      line: 'if (previous === undefined || byTime(previous, observation) <= 0) newest.set(observation.url, observation);',
      changes: [
        'byTime(previous, observation) <= 0 → byTime(previous, observation) < 0',
        'byTime(previous, observation) <= 0 → byTime(previous, observation) <= (-1)',
      ],
      reason: 'Two observations of one time and status list the same URL.',
    },
  ],
  'src/ingest/feeds/feed-state.ts': [
    {
      line: 'retryAfterSeconds = 0,',
      changes: ['retryAfterSeconds = 0 → retryAfterSeconds = 1', 'retryAfterSeconds = 0 → retryAfterSeconds = (-1)'],
      reason: 'No interval is shorter than a second, and the longer delay counts.',
    },
    {
      line: 'const doubled = Math.min(RETRY_SECONDS, intervalSeconds) * 2 ** Math.min(failures - 1, 30);',
      changes: [
        'Math.min(failures - 1, 30) → Math.min(failures - 1, 31)',
        'Math.min(failures - 1, 30) → Math.min(failures - 1, 29)',
      ],
      reason: 'The maximum delay is reached long before.',
    },
  ],
  'src/ingest/formats/values.ts': [
    {
      line: 'const days = month === 2 && isLeap ? 29 : (DAYS_PER_MONTH[month - 1] ?? 0);',
      changes: ['DAYS_PER_MONTH[month - 1] ?? 0 → DAYS_PER_MONTH[month - 1] ?? (-1)'],
      reason: 'No day is 0 or less.',
    },
  ],
  'src/ingest/sources/csv.ts': [
    {
      line: 'let openLength = 0;',
      changes: ['openLength = 0 → openLength = 1', 'openLength = 0 → openLength = (-1)'],
      reason: 'It is set by the line that opens a row, before it is read.',
    },
    {
      line: 'else pending.push(...continueRow(next).reverse());',
      changes: ['pending.push(...continueRow(next).reverse()); removed'],
      reason: 'Only the last of the returned lines can open a field: the others have an even number of quotes.',
    },
  ],
  'src/ingest/sources/lines.ts': [
    {
      line: 'if (!isAscii(chunk)) return (start, end) => toLine(chunk.subarray(start, end), maxBytes);',
      changes: ['!isAscii(chunk) → true'],
      reason: 'Decoding line by line has the same result; the check only saves work.',
    },
    {
      line: 'end - start > maxBytes',
      changes: [
        'end - start > maxBytes → true',
        'end - start → end + start',
        'end - start > maxBytes → end - start >= maxBytes',
      ],
      reason: 'Both branches have the same result for a line that is not too long; the shorter one only saves work.',
    },
    {
      line: 'if (room <= 0 || piece.length === 0) return rest;',
      changes: [
        'room <= 0 || piece.length === 0 → false',
        'room <= 0 → room < 0',
        'room <= 0 → room <= (-1)',
        'room <= 0 || piece.length === 0 → room <= 0 && piece.length === 0',
        'piece.length === 0 → piece.length === (-1)',
      ],
      reason: 'Nothing is added below; the check only saves a copy.',
    },
    {
      line: 'return rest.length === 0 ? Buffer.from(piece.subarray(0, room)) : Buffer.concat([rest, piece.subarray(0, room)]);',
      changes: ['rest.length === 0 → false', 'rest.length === 0 → rest.length === (-1)'],
      reason: 'Both make a copy of the piece.',
    },
    {
      line: "return bytes.toString('utf8', 0, SHOWN_BYTES);",
      changes: ["bytes.toString('utf8', 0, SHOWN_BYTES) → bytes.toString('utf8', (-1), SHOWN_BYTES)"],
      reason: 'A negative start means 0.',
    },
  ],
  'src/limits/counters-memory.ts': [
    {
      line: 'isUsable: (cells: Cells) => boolean = () => true,',
      changes: ['() => true → () => false'],
      reason: 'The place is found again, and is the same; keeping it only saves work.',
    },
    {
      line: 'accounts.set(sub, finding);',
      changes: ['accounts.set(sub, finding); removed'],
      reason: 'Concurrent callers find the same place; sharing the promise only saves work.',
    },
  ],
  'src/limits/limit-headers.ts': [
    {
      line: 'if (cached !== undefined && ts >= cached.sinceTs && ts < cached.untilTs) return cached.text;',
      changes: ['ts >= cached.sinceTs → ts > cached.sinceTs'],
      reason: 'The text is made again with the same result; the cache only saves work.',
    },
    {
      line: "texts.set(policies, { text, sinceTs: ts, untilTs: windowEnd('month', ts) });",
      changes: ["texts.set(policies, { text, sinceTs: ts, untilTs: windowEnd('month', ts) }); removed"],
      reason: 'The text is made again with the same result; the cache only saves work.',
    },
  ],
  'src/limits/usage-writer.ts': [
    {
      line: 'let newest = { ts: Number.NaN, day: 0, month: 0 };',
      changes: ['day: 0 → day: 1', 'day: 0 → day: (-1)', 'month: 0 → month: 1', 'month: 0 → month: (-1)'],
      reason: 'No time equals NaN, so they are set before they are read.',
    },
    {
      line: "if (ts !== newest.ts) newest = { ts, day: windowIndex('day', ts), month: windowIndex('month', ts) };",
      changes: ['ts !== newest.ts → true'],
      reason: 'The windows are computed again with the same result; the cache only saves work.',
    },
  ],
  'src/urls/file-rules.ts': [
    {
      line: 'const details = stored.details.map((value, i) => value ?? given.details[i] ?? null) as DetailColumns;',
      changes: ['value ?? given.details[i] ?? null → value ?? given.details[i]'],
      reason: 'Both have five details.',
    },
  ],
  'src/urls/listing-rules.ts': [
    {
      line: 'if (latest === null || ts > latest.ts || (ts === latest.ts && reporter < latest.reporter))',
      changes: ['reporter < latest.reporter → reporter <= latest.reporter'],
      reason: 'An equal name at an equal time is the same feed.',
    },
    {
      line: 'return confirmedTs !== null && confirmedTs <= Math.max(ts, missedByOthersTs ?? 0);',
      changes: ['missedByOthersTs ?? 0 → missedByOthersTs ?? 1', 'missedByOthersTs ?? 0 → missedByOthersTs ?? (-1)'],
      reason: 'The time is after that of another listing, so it is at least 1.',
    },
  ],
  'src/urls/resolution-rules.ts': [
    {
      line: 'items: without.filter((ip, i) => Buffer.compare(ip, without[i - 1] ?? NO_ADDRESS) !== 0),',
      changes: ['i - 1 → i + 1'],
      reason: 'Of equal neighbours the last one stays instead of the first.',
    },
  ],
  'src/urls/search-key.ts': [
    {
      line: "const asn = typeof value === 'number' ? value : Number(ASN.exec(value)?.[1] ?? Number.NaN);",
      changes: ['ASN.exec(value)?.[1] ?? Number.NaN → ASN.exec(value)?.[1]'],
      reason: 'The number of undefined is NaN as well.',
    },
  ],
  'src/urls/timeline.ts': [
    {
      line: 'added: 0,',
      changes: ['added: 0 → added: 1', 'added: 0 → added: (-1)'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'online: 1,',
      changes: ['online: 1 → online: 2', 'online: 1 → online: 0'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'offline: 2,',
      changes: ['offline: 2 → offline: 3', 'offline: 2 → offline: 1'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'offline_after_removal: 3,',
      changes: [
        'offline_after_removal: 3 → offline_after_removal: 4',
        'offline_after_removal: 3 → offline_after_removal: 2',
      ],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'offline_again: 4,',
      changes: ['offline_again: 4 → offline_again: 3'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'removed: 5,',
      changes: ['removed: 5 → removed: 6'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: 'removed_again: 6,',
      changes: ['removed_again: 6 → removed_again: 7', 'removed_again: 6 → removed_again: 5'],
      reason: 'Only the order counts, and entries with equal numbers keep the order of the store.',
    },
    {
      line: "if (!entries.some(({ kind }) => kind === 'offline_again')) return entries;",
      changes: [
        "!entries.some(({ kind }) => kind === 'offline_again') → false",
        "kind === 'offline_again' → kind !== 'offline_again'",
      ],
      reason: 'Other entries are in order already; the check only saves work.',
    },
    {
      line: 'else runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts });',
      changes: [
        'runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts }) → runs.splice(at + 1, (-1), { ...observed, confirmedTs: observed.ts })',
      ],
      reason: 'A count below 0 removes nothing.',
    },
    {
      line: 'runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts }, again);',
      changes: [
        'runs.splice(at + 1, 0, { ...observed, confirmedTs: observed.ts }, again) → runs.splice(at + 1, (-1), { ...observed, confirmedTs: observed.ts }, again)',
      ],
      reason: 'A count below 0 removes nothing.',
    },
    {
      line: 'return runs.toSpliced(isCut ? at - 1 : at, isCut ? 1 : 0, ...(cut as Run[]));',
      changes: ['isCut ? 1 : 0 → isCut ? 1 : (-1)'],
      reason: 'A count below 0 removes nothing.',
    },
    {
      line: '(observed.ts === run.confirmedTs && STATUS_ORDER[observed.status] <= STATUS_ORDER[run.status])',
      changes: [
        'STATUS_ORDER[observed.status] <= STATUS_ORDER[run.status] → STATUS_ORDER[observed.status] < STATUS_ORDER[run.status]',
      ],
      reason: 'Both branches leave a run unchanged if it ends with the same observation.',
    },
    {
      line: 'if (preference(observed) < preference(run))',
      changes: ['preference(observed) < preference(run) → preference(observed) <= preference(run)'],
      reason: 'Equal ones have the same values.',
    },
  ],
  'src/urls/url-group.ts': [
    {
      line: 'for (const { statuses } of groups.values()) if (statuses.length > 1) statuses.sort(byTime);',
      changes: [
        'statuses.length > 1 → true',
        'statuses.length > 1 → statuses.length >= 1',
        'statuses.length > 1 → statuses.length > 0',
      ],
      reason: 'One status is always in order; the check only saves work.',
    },
    {
      line: 'return [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));',
      changes: [
        'a.key < b.key → a.key <= b.key',
        '-1 → -2',
        'a.key < b.key ? -1 : 1 → a.key < b.key ? -1 : 2',
        'a.key < b.key ? -1 : 1 → a.key < b.key ? -1 : 0',
      ],
      reason: 'No two keys are equal, and the sort of V8 only checks whether the result is below 0.',
    },
  ],
};
