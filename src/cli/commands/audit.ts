import { AUDIT_ACTIONS, AUDIT_KINDS } from '../../audit/entry.ts';
import type { AuditEntry } from '../../audit/store.ts';
import { suggestion } from '../../core/suggestion.ts';
import { UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { timeText, visible } from '../output.ts';
import { readTime } from '../time.ts';
import { definitions } from '../usage.ts';

const LIMIT_DEFAULT = 50;
/** They are read and printed together. */
const LIMIT_MAX = 10_000;

export const audit = controlCommand(
  {
    synopsis: 'audit',
    about: `Shows who changed accounts, tiers, keys, feeds, listings, allow lists, domains and lists for devices, the newest change first: its
time, what was done, by whom and on which machine, and the old and new values. Passwords and keys are never
recorded. Imports are not changes of this kind: see urlwarden import list.

Actions:
${definitions(AUDIT_KINDS.map((kind) => [kind, verbsOf(kind).join(', ')]))}`,
    flags: {
      since: {
        argument: 'TIME',
        meaning: 'only changes from this time on, such as 2026-01-31, 30d (ago) or Unix seconds',
      },
      until: { argument: 'TIME', meaning: 'only changes up to this time' },
      subject: { argument: 'NAME', meaning: 'only changes of this account, tier, key, feed, network, domain or list' },
      action: { argument: 'ACTION', meaning: 'only these changes, such as account.set, or account for all of them' },
      limit: { argument: 'N', meaning: `how many, up to ${LIMIT_MAX} (default ${LIMIT_DEFAULT})` },
    },
    examples: ['urlwarden audit --action account --since 2026-10-01', 'urlwarden audit --subject ada@example.com'],
  },
  async (control, { flags }) => {
    const entries = await control.auditEntries({
      sinceTs: flags.since === undefined ? 0 : readTime('--since', flags.since),
      untilTs: flags.until === undefined ? Number.MAX_SAFE_INTEGER : readTime('--until', flags.until),
      subject: flags.subject ?? null,
      action: flags.action === undefined ? null : readAction(flags.action),
      limit: readLimit(flags.limit),
    });
    const text = entries.length > 0 ? entries.map(entryText).join('') : 'There are no such changes.\n';
    return { text, json: entries };
  },
);

/** `account.add`, `account.set`, … without the kind. */
function verbsOf(kind: string): string[] {
  return AUDIT_ACTIONS.filter((action) => action.startsWith(`${kind}.`)).map((action) => action.slice(kind.length + 1));
}

function readAction(text: string): string {
  const known = [...AUDIT_ACTIONS, ...AUDIT_KINDS];
  if (known.some((name) => name === text)) return text;
  const hint = suggestion(text, known);
  throw new UsageError(`--action must be an action such as account.set, or ${AUDIT_KINDS.join(', ')}.${hint}`);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${LIMIT_MAX}, not ${JSON.stringify(text)}`);
}

/** Width of the output. */
const COLUMNS = 80;
const INDENT = '  ';

/**
 *     2026-10-18T12:00:00Z  account.set  ada@example.com
 *       by root (sudo by grace) on host1 (cli)
 *       tier: standard → enterprise
 */
function entryText({ ts, source, actor, origin, action, subject, changes }: AuditEntry): string {
  const lines = [
    ...broken(`${timeText(ts)}  ${action}  ${subject}`, COLUMNS),
    ...broken(`by ${actor} on ${origin} (${source})`, COLUMNS - INDENT.length).map((line) => INDENT + line),
    ...Object.entries(changes)
      .flatMap(([field, { old, new: value }]) => broken(changeText(field, old, value), COLUMNS - INDENT.length))
      .map((line) => INDENT + line),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function changeText(field: string, old: unknown, value: unknown): string {
  return old === null ? `${field}: ${valueText(value)}` : `${field}: ${valueText(old)} → ${valueText(value)}`;
}

function valueText(value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
  return text === '' ? 'none' : text;
}

/** Breaks anywhere: a username or a reason may be longer than a line. */
function broken(text: string, columns: number): string[] {
  const characters = [...visible(text)];
  const lines = Math.ceil(characters.length / columns);
  return Array.from({ length: lines }, (_, i) => characters.slice(i * columns, (i + 1) * columns).join(''));
}
