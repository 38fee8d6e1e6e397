import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_ACCOUNT, type FirstAccount } from '../../accounts/first-account.ts';
import { type App, type Listening, openApp } from '../../app.ts';
import { readSettings, type SettingTable, variableOf } from '../../config/read-settings.ts';
import { conflictsOf, SETTINGS } from '../../config/settings.ts';
import { makeFolder } from '../../database/data-folder.ts';
import { type Command, EXIT_USAGE } from '../command.ts';
import { print } from '../output.ts';
import { stopSignal } from '../stop-signal.ts';

export const serve: Command = {
  usage: `urlwarden serve [OPTIONS]

${describeSettings(SETTINGS)}
Stop it with Ctrl-C or SIGTERM: running answers are finished first. With --tls-cert, SIGHUP makes it read certificate and
key again.

  urlwarden serve --demo
`,
  async run(args) {
    const read = readSettings(SETTINGS, args, process.env);
    const faults = read.ok ? conflictsOf(read.values) : read.faults;
    if (!read.ok || faults.length > 0) {
      process.stderr.write(`${faults.join('\n')}\nSee: urlwarden serve --help\n`);
      return EXIT_USAGE;
    }
    const { signal } = stopSignal();
    const app = await openApp(read.values);
    // Without TLS there is nothing to read again, and the signal means what it always does: the terminal is gone.
    if (read.values.tlsCertFile !== null) process.on('SIGHUP', () => app.rereadTls());
    const listening = await app.listen();
    await print(greeting(app, listening, read.values.demo));
    if (!signal.aborted) await once(signal, 'abort');
    await app.close();
    return 0;
  },
};

function greeting({ dataDir, place }: App, { url, metricsUrl, firstAccount }: Listening, isDemo: boolean): string {
  const account = isDemo ? DEMO_ACCOUNT : firstAccount;
  return [
    `Urlwarden answers on ${url}`,
    `Data: ${place}${isDemo ? ' (made-up)' : ''}`,
    ...(metricsUrl === null ? [] : [`Metrics: ${metricsUrl}`]),
    ...(account === null
      ? []
      : [`Account: ${account.username}`, `Password: ${tellPassword(account, dataDir, isDemo)}`]),
    ...(process.stdout.isTTY ? ['Stop with Ctrl-C.'] : []),
    '',
  ].join('\n');
}

/**
 * To the terminal, where only the one who started it reads it. Where output goes elsewhere that may be a log, which many
 * read, so it goes to a file of the owner. The password of the demo is no secret.
 */
function tellPassword({ password }: FirstAccount, dataDir: string, isDemo: boolean): string {
  if (isDemo) return password;
  if (process.stdout.isTTY) return `${password} (shown only once)`;
  makeFolder(dataDir);
  const file = join(dataDir, 'operator-password');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return `in ${file}; delete it when you have read it`;
}

/** The part of a usage text that lists settings: flag, meaning, default, variable. */
export function describeSettings(table: SettingTable): string {
  const settings = Object.values(table).map((setting) => ({
    usage: `--${setting.flag}${setting.argument ? ` ${setting.argument}` : ''}`,
    about: `${setting.meaning}${setting.argument ? ` (default ${fallbackText(setting.fallback)})` : ''}`,
    variable: variableOf(setting.flag),
  }));
  const width = Math.max(...settings.map(({ usage }) => usage.length));
  const lines = settings.map(
    ({ usage, about, variable }) => `  ${usage.padEnd(width)}   ${about}\n${' '.repeat(width + 5)}${variable}\n`,
  );
  return `${lines.join('')}\nEach can be given as the variable below it instead; the flag wins.\n`;
}

function fallbackText(fallback: unknown): string {
  return fallback === null || (Array.isArray(fallback) && fallback.length === 0) ? 'none' : `${fallback}`;
}
