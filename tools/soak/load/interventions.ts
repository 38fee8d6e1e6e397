import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logIn, PROGRAM } from '../../shared/server-process.ts';
import { urlhausDump } from '../../shared/urlhaus-dump.ts';
import { accept, CHANGED, type LoadAccount, maybeRefuse, refuse, STEADY } from './accounts.ts';
import type { Engine } from './engine.ts';
import type { Generator } from './generator.ts';
import { type Outages, RECOVERY_MS } from './outages.ts';
import type { Problems } from './problems.ts';
import { firstUrlRequest, lastImported, limitsRequest } from './requests.ts';

type InterventionOptions = {
  engine: Engine;
  url: string;
  urls: number;
  generator: Generator;
  outages: Outages;
  problems: Problems;
  importRows: number;
};

/** Something that an operator does, or that breaks, while the load continues. Returns what was seen. */
export type Intervention = { name: string; run(): Promise<string> };

/** Changes of accounts take effect within this time (docs/operating.md). */
const EFFECT_MS = 5_000;
const PROBE_MS = 50;
/** URLs of each import that are looked up afterwards. */
const IMPORTED_SAMPLE = 20;
/** Every third import repeats the one before, which changes nothing. */
const REPEATED_IMPORT = 3;

/** A command that takes longer is killed, so that the run ends in any case. */
const COMMAND_MS = 300_000;

type CommandResult = { code: number; output: string };

/** Runs `urlwarden` as a person would, with `input` as standard input. */
export function runCommand(args: readonly string[], input = ''): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...args], { timeout: COMMAND_MS }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
    child.stdin?.end(input);
  });
}

/** In the order in which they are done, again and again. */
export function createInterventions(options: InterventionOptions): Intervention[] {
  const { engine, url, urls, generator, outages, problems, importRows } = options;
  const changed = accountOf(engine, CHANGED);
  const lookup = firstUrlRequest(urls);
  const listing = join(engine.folder, 'listing.csv');
  let imported: string[] = [];
  let imports = 0;
  let logins = 0;

  async function command(args: string[], input?: string): Promise<void> {
    const { code, output } = await runCommand([...args, ...engine.placeFlags], input);
    if (code !== 0) problems.add(`the command ${args.slice(0, 2).join(' ')} ended with ${code}`, output);
  }

  /** Waits until the account is answered with this status. A request that is sent later than `withinMs` must be. */
  async function untilStatus(status: number, withinMs = EFFECT_MS, request = limitsRequest): Promise<string> {
    const startMs = performance.now();
    for (;;) {
      const sentMs = performance.now();
      const answered = await generator.ask(request, changed);
      if (answered === status) return `${status} after ${secondsSince(startMs)}`;
      if (sentMs - startMs > withinMs) {
        problems.add(`no ${status} within ${withinMs} ms after a change`, `${answered}`);
        return `still ${answered} after ${secondsSince(startMs)}`;
      }
      await sleep(PROBE_MS);
    }
  }

  async function logInAs(account: LoadAccount): Promise<void> {
    try {
      accept(account, await logIn(url, account));
    } catch (error) {
      problems.add('a login failed', (error as Error).message);
    }
  }

  async function importListing(): Promise<string> {
    if (++imports % REPEATED_IMPORT !== 0) {
      // All URLs of the listing before are missing in this one, so they go offline.
      const text = [...urlhausDump({ rows: importRows, seed: 1_000 + imports })].join('');
      writeFileSync(listing, text.replaceAll('"offline"', '"online"'));
      imported = [...text.matchAll(/^"\d+","[^"]+","([^"]+)"/gm)].map(([, found = '']) => found);
    }
    const asOf = String(Math.floor(Date.now() / 1_000));
    const startMs = performance.now();
    await command(['import', 'urlhaus-csv', listing, '--complete', '--force', '--as-of', asOf]);
    const seconds = secondsSince(startMs);
    const step = Math.max(1, Math.floor(imported.length / IMPORTED_SAMPLE));
    const sample = imported.filter((_, i) => i % step === 0);
    for (const found of sample) await generator.ask(lastImported(found), accountOf(engine, STEADY[0] ?? ''));
    return `${importRows} rows in ${seconds}, ${sample.length} of them looked up`;
  }

  async function revoke(args: string[], input?: string): Promise<string> {
    maybeRefuse(changed, 401);
    await command(args, input);
    const effect = await untilStatus(401);
    refuse(changed, 401);
    await logInAs(changed);
    return effect;
  }

  async function changePassword(): Promise<string> {
    const password = randomBytes(12).toString('hex');
    const old = { ...changed };
    changed.password = password;
    const effect = await revoke(['account', 'passwd', changed.username], `${password}\n`);
    await logIn(url, old).then(
      () => problems.add('a login with the old password succeeded', old.username),
      ({ message }) => message.includes('"code":401') || problems.add('a login with the old password', message),
    );
    return effect;
  }

  async function disableAndEnable(): Promise<string> {
    maybeRefuse(changed, 403);
    await command(['account', 'disable', changed.username]);
    const disabled = await untilStatus(403);
    refuse(changed, 403);
    maybeRefuse(changed, 403);
    await command(['account', 'enable', changed.username]);
    const enabled = await untilStatus(200);
    accept(changed);
    return `${disabled}, ${enabled}`;
  }

  async function logInAgain(): Promise<string> {
    const account = accountOf(engine, STEADY[logins++ % STEADY.length] ?? '');
    const startMs = performance.now();
    await logInAs(account);
    return `${account.username} in ${Math.round(performance.now() - startMs)} ms`;
  }

  /** Without Redis every request is answered, so this is not an outage. Its data is lost. */
  async function restartRedis(signal: NodeJS.Signals): Promise<string> {
    const restarted = engine.restarts?.redis(signal);
    const login = await logInAgain();
    await restarted;
    return `its data is lost; meanwhile a login: ${login}`;
  }

  async function outage(restart: () => Promise<unknown>): Promise<string> {
    outages.begin();
    const startMs = performance.now();
    await restart();
    const down = secondsSince(startMs);
    outages.end();
    return `down for ${down}, then ${await untilStatus(200, RECOVERY_MS, lookup)}`;
  }

  const restartPostgres = (signal: NodeJS.Signals) => outage(async () => engine.restarts?.postgres(signal));

  /** Redis is back first, and is filled again as soon as PostgreSQL responds. */
  const crashBoth = () =>
    outage(async () => {
      await Promise.all([engine.restarts?.redis('SIGKILL'), engine.restarts?.postgres('SIGQUIT')]);
    });

  const onEachEngine: Intervention[] = [
    { name: 'import', run: importListing },
    { name: 'revoke', run: () => revoke(['account', 'revoke', changed.username]) },
    { name: 'login', run: logInAgain },
    { name: 'disable and enable', run: disableAndEnable },
    { name: 'password', run: changePassword },
  ];
  if (engine.restarts === null) return onEachEngine;
  const [importing, ...changes] = onEachEngine as [Intervention, ...Intervention[]];
  return [
    importing,
    { name: 'restart of Redis', run: () => restartRedis('SIGTERM') },
    { name: 'restart of PostgreSQL', run: () => restartPostgres('SIGINT') },
    ...changes,
    { name: 'import again', run: importListing },
    { name: 'crash of Redis', run: () => restartRedis('SIGKILL') },
    { name: 'crash of PostgreSQL', run: () => restartPostgres('SIGQUIT') },
    { name: 'crash of both', run: crashBoth },
  ];
}

function secondsSince(startMs: number): string {
  return `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
}

function accountOf(engine: Engine, username: string): LoadAccount {
  const account = engine.accounts.find((candidate) => candidate.username === username);
  if (account === undefined) throw new Error(`there is no account ${username}`);
  return account;
}
