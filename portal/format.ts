// Texts for people. Times are shown in UTC: two analysts who compare notes must see the same time.

/** The colour of a state. */
export type Tone = 'danger' | 'ok' | 'late' | 'off' | 'info';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export const nowTs = (): number => Math.floor(Date.now() / 1000);

/** Dates end here (ECMAScript, time values). The API takes later times, and one of them must not break a page. */
const LAST_MS = 8.64e15;
const dateOf = (ts: number): Date => new Date(Math.min(ts * 1_000, LAST_MS));

/** For programs. */
export const isoText = (ts: number): string => dateOf(ts).toISOString();

/** 2026-11-10 08:14 */
export function timeText(ts: number): string {
  return isoText(ts).slice(0, -8).replace('T', ' ');
}

/** 10 Nov 2026 */
export function dateText(ts: number): string {
  const date = dateOf(ts);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** 2026-11-10 */
export const dayText = (ts: number): string => isoText(ts).slice(0, 10);

export const monthName = (month: number): string => MONTHS[month] ?? '';

/** `12 minutes`: one unit, rounded down. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return counted(whole, 'second');
  if (whole < HOUR) return counted(Math.floor(whole / MINUTE), 'minute');
  if (whole < 2 * DAY) return counted(Math.floor(whole / HOUR), 'hour');
  return counted(Math.floor(whole / DAY), 'day');
}

/** Without rounding: `1 day`, `36 hours`, `90 seconds`. */
export function exactSpanText(seconds: number): string {
  if (seconds % DAY === 0) return counted(seconds / DAY, 'day');
  if (seconds % HOUR === 0) return counted(seconds / HOUR, 'hour');
  return seconds % MINUTE === 0 ? counted(seconds / MINUTE, 'minute') : counted(seconds, 'second');
}

/** `12 minutes ago`, `in 3 hours`, `now`. */
export function agoText(ts: number, now: number = nowTs()): string {
  const seconds = now - ts;
  if (Math.abs(seconds) < 5) return 'now';
  return seconds > 0 ? `${spanText(seconds)} ago` : `in ${spanText(-seconds)}`;
}

/** `1 URL`, `2 URLs`, `1,234 URLs`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${numberText(count)} ${count === 1 ? noun : plural}`;
}

export const numberText = (value: number): string => value.toLocaleString('en-US');

/** 1.2 MB; a byte count below 1,000 as it is. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1_000;
    unit++;
  } while (value >= 999.5 && unit < units.length - 1); // rounded, it would be 1000
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A limit of 2,147,483,647 stands for none. */
export const NO_LIMIT = 2_147_483_647;

/** `hxxp://203[.]0[.]113[.]7/bin.sh`: nobody opens it by accident. */
export function defang(url: string): string {
  const [, scheme = '', host = '', rest = ''] = /^([a-z]+:\/\/)?([^/?#]*)(.*)$/is.exec(url) ?? [];
  return scheme.replace(/^http/i, 'hxxp').replace(/^ftp/i, 'fxp') + host.replaceAll('.', '[.]') + rest;
}

/** Control and format characters, half surrogates, and separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Characters that cannot be seen, or that turn the direction of the text, are shown by their code: `\u202e`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/**
 * A message of the server without the commands that it names: whoever reads a page may have no shell.
 *
 *     To list it, take it off first: see urlwarden allow list   becomes   To list it, take it off first.
 */
export const withoutCommands = (message: string): string =>
  message
    .replaceAll(/: (?:see|use) urlwarden .*/g, '.')
    .replaceAll(/ \(urlwarden [^)]*\)/g, '')
    .replaceAll(/(?:^| )[A-Z][^.:\n]*: urlwarden .*/gm, '')
    .trim();

/** Whether a text has this part, as it is shown, in upper or lower case. */
export const hasText = (text: string, part: string): boolean =>
  visible(text).toLowerCase().includes(visible(part).toLowerCase());

/** `4fdf895cdcc4…0622` */
export const shortHash = (hash: string): string => (hash.length > 20 ? `${hash.slice(0, 12)}…${hash.slice(-4)}` : hash);

/** For a POSIX shell: nothing inside single quotes is special. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A request to the API by curl, with the token in $TOKEN. */
export function askLine(url: string, body?: object): string {
  const json = body === undefined ? '' : `--json ${shellQuoted(JSON.stringify(body))} `;
  return `curl -H "Authorization: Bearer $TOKEN" ${json}${shellQuoted(url)}`;
}

/** `origin`: the base address. The login needs a real account to work. */
export type Caller = { origin: string; username: string; password: string };

/** Sets TOKEN, which all other commands use. */
export function loginLine({ origin, username, password }: Caller): string {
  const body = shellQuoted(JSON.stringify({ username, password, realm: 'intel' }));
  return `TOKEN=$(curl -s --json ${body} ${origin}/api/v1/login | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;
}
