import { textFault } from '../core/text.ts';

/** Clocks differ, and sources write local time by mistake: a time may be up to a day in the future. */
const FUTURE_MAX_SECONDS = 86_400;

/** Returns why a time is invalid, or null. */
export function timeFault(ts: number, nowTs: number): string | null {
  if (!Number.isSafeInteger(ts) || ts < 0) return 'ts: must be Unix seconds, a whole number from 0';
  return ts > nowTs + FUTURE_MAX_SECONDS ? 'ts: more than a day in the future' : null;
}

/** Returns why a value is refused, or null. */
export type Check = (value: unknown, nowTs: number) => string | null;

export const checkText = (value: unknown) => (typeof value === 'string' ? textFault(value) : 'must be a string');
export const orNull =
  (check: Check): Check =>
  (value, nowTs) =>
    value === null ? null : check(value, nowTs);
export const checkInteger =
  (max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
      ? null
      : `must be an integer from 0${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`;
/** Unix seconds, also in the future. */
export const checkSeconds: Check = (value, nowTs) =>
  checkInteger(Number.MAX_SAFE_INTEGER)(value, nowTs) && 'must be an integer: Unix seconds, such as 1731628800';
const FUTURE_TIME = 'more than a day in the future; times are Unix seconds, not milliseconds';
export const checkTime: Check = (value, nowTs) =>
  checkSeconds(value, nowTs) ?? (Number(value) > nowTs + FUTURE_MAX_SECONDS ? FUTURE_TIME : null);
export const checkOneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value) ? null : `must be one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
export const checkTexts = (value: unknown, what = 'a list of strings'): string | null => {
  if (!Array.isArray(value) || !value.every((text) => typeof text === 'string')) return `must be ${what}`;
  return value.map(textFault).find((fault) => fault !== null) ?? null;
};
/** One text or a list of texts. */
export const checkAddresses: Check = (value) => checkTexts([value].flat(), 'a string, or a list of strings');
/** The first fault of a value, or of a key that is not allowed. */
export function keyFault(value: Record<string, unknown>, checks: Record<string, Check>, nowTs: number): string | null {
  for (const [key, one] of Object.entries(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (check === undefined)
      return `unknown key ${JSON.stringify(key)}; allowed keys: ${Object.keys(checks).join(', ')}`;
    const fault = check(one, nowTs);
    if (fault !== null) return `${key}: ${fault}`;
  }
  return null;
}

export function missingKey(value: Record<string, unknown>, required: readonly string[]): string | null {
  const missing = required.find((key) => !Object.hasOwn(value, key));
  return missing === undefined ? null : `${missing} is missing`;
}
