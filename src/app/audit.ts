import { hostname } from 'node:os';
import { allTiers } from '../accounts/tiers.ts';
import { cleanUpAudit } from '../audit/clean-up.ts';
import { type Actor, type AuditAction, entryOf, type Fields, type NewAuditEntry } from '../audit/entry.ts';
import { NOT_RECORDED } from '../audit/request-record.ts';
import { createSoftLimitWatch, type SoftLimitWatch } from '../audit/soft-limit.ts';
import type { SoftLimitEvent } from '../audit/store.ts';
import { sendDueEvents, type WebhookEnd } from '../audit/webhook.ts';
import { readPrivateFile } from '../config/private-file.ts';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { everyMs } from '../core/every.ts';
import type { Log, Outages } from '../health/outages.ts';
import { postUrl } from '../ingest/sources/fetch.ts';
import { createGuard } from '../ingest/sources/fetch-guard.ts';
import type { Control } from './stores.ts';

type AuditParts = {
  control: Control;
  settings: Settings;
  log: Log<'error' | 'warn' | 'info'>;
  outages: Outages;
  now(): number;
};

/** What a server does about the audit log and about soft limits. */
export type ServerAudit = {
  /** Records a change that this server has made. Never throws: the change is already made. */
  record(action: AuditAction, subject: string, after: Fields): Promise<void>;
  onAboveSoftLimit: SoftLimitWatch['above'];
  /** Starts the tasks in the background. */
  start(): void;
  close(): Promise<void>;
};

/** Events wait for a retry of at least 30 s. A new event is sent at once. */
const SEND_MS = 10_000;
/** The cleanup is due once a day on one node; accounts above their limit are nearly always found by a query. */
const HOURLY_MS = 3_600_000;

/** For connecting and for the response, each; both together are shorter than the lease of an event. */
const POST_TIMEOUT_MS = 10_000;

/** As long as the output of SHA-256: RFC 2104 section 3. */
const SECRET_MIN_LENGTH = 32;

const ALLOW_HINT = 'To send to your own network, allow it with --soft-limit-webhook-allow-private';

export function createServerAudit({ control, settings, log, outages, now }: AuditParts): ServerAudit {
  const actor: Actor = { source: 'server', name: 'server', origin: hostname() };
  const { auditMonths: months } = settings;
  const webhook = createWebhook(settings);
  const stop = new AbortController();
  let sending: Promise<void> | null = null;
  let cleaning: Promise<number> | null = null;

  const logEntry = ({ action, subject, changes }: NewAuditEntry) => log.info({ action, subject, changes }, 'audit');

  function onFailure(err: unknown): void {
    if (!outages.report(err)) log.error({ err }, 'a task of the audit log failed; it will be retried');
  }

  const watch = createSoftLimitWatch({
    store: control,
    accountOf: (sub) => control.accountBySub(sub),
    softLimits: async () => new Map((await allTiers(control)).map(({ name, qms }) => [name, qms])),
    hasWebhook: webhook !== null,
    actor,
    onEvent({ sub }, entry) {
      logEntry({ ...entry, subject: sub }); // the log has no usernames
      void send();
    },
    onFailure,
  });

  /** One run at a time. An event that is added meanwhile is claimed by the same run. */
  function send(): Promise<void> {
    if (webhook === null || stop.signal.aborted) return Promise.resolve();
    sending ??= sendDueEvents(
      { store: control, now, onEnd: (event, end) => logEnd(log, event, end), ...webhook },
      stop.signal,
    )
      .catch(onFailure)
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  async function hourly(): Promise<void> {
    try {
      await watch.findAll(now());
      if (stop.signal.aborted) return;
      cleaning = cleanUpAudit({ store: control, months, actor, signal: stop.signal }, now());
      const removed = await cleaning;
      if (removed > 0) log.info({ removed }, 'old entries of the audit log were deleted');
    } catch (error) {
      if (!stop.signal.aborted) onFailure(error);
    }
  }

  const timers: (() => void)[] = [];
  return {
    async record(action, subject, after) {
      const entry = entryOf(actor, { action, subject, after }, now());
      try {
        await control.addAudit(entry);
        logEntry(entry);
      } catch (err) {
        log.error({ err, action, subject }, NOT_RECORDED);
      }
    },

    onAboveSoftLimit: watch.above,

    start() {
      timers.push(
        everyMs(SEND_MS, () => void watch.retry().then(send)),
        everyMs(HOURLY_MS, () => void hourly()),
      );
      void hourly().then(send);
    },

    /** Waits for a batch of the cleanup, which it records, but not for the search for soft limits, which can be repeated. */
    async close() {
      for (const endTimer of timers) endTimer();
      stop.abort();
      await Promise.all([watch.close(), sending, cleaning?.catch(() => {})]);
    },
  };
}

/** Null if no webhook is set. */
function createWebhook(settings: Settings) {
  const { softLimitWebhookUrl: url, softLimitWebhookSecretFile: file, softLimitWebhookAllowPrivate } = settings;
  if (url === null || file === null) return null;
  const guard = { ...createGuard(softLimitWebhookAllowPrivate), allowHint: ALLOW_HINT };
  return {
    secret: readSecret(file),
    post: (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) =>
      postUrl(url, body, { guard, headers, timeoutMs: POST_TIMEOUT_MS, signal }),
  };
}

function readSecret(file: string): string {
  const secret = readPrivateFile(file, 'secrets of the webhook').split('\n')[0]?.trim() ?? '';
  if (secret.length >= SECRET_MIN_LENGTH) return secret;
  const howTo = 'create one with `openssl rand -hex 32`';
  throw new AppError(
    'unavailable',
    `The first line of ${file} has less than ${SECRET_MIN_LENGTH} characters: ${howTo}`,
  );
}

function logEnd(log: Log<'warn' | 'info'>, { id, sub }: SoftLimitEvent, end: WebhookEnd): void {
  if (end.outcome === 'delivered') {
    log.info({ id, sub }, 'the webhook of a soft limit was delivered');
    return;
  }
  const reason = (end.error as Error).message;
  const next = end.outcome === 'failed' ? 'it will be sent again' : 'it is not sent again';
  log.warn({ id, sub, reason }, `the webhook of a soft limit failed; ${next}`);
}
