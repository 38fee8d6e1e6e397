import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_ACCOUNT, type FirstAccount } from '../../accounts/first-account.ts';
import { type App, type Listening, openApp } from '../../app.ts';
import { conflictsOf, SETTINGS, type Settings } from '../../config/settings.ts';
import { makeFolder } from '../../database/data-folder.ts';
import { type Command, UsageError } from '../command.ts';
import { print } from '../output.ts';
import { readCommandSettings, settingFlags } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';
import { usageText } from '../usage.ts';

const FLAGS = settingFlags();

export const serve: Command = {
  completes: { flags: FLAGS },
  usage: usageText({
    synopsis: 'serve',
    about: `Starts the HTTP server. Ctrl-C stops it after the running requests. After SIGTERM it still answers for
--stop-grace-seconds, with /readyz 503, so that no request is lost; a second signal ends that time. With --tls-cert,
SIGHUP reloads the certificate and the key.

Each flag can also be given as the environment variable below it, or in a settings file under its name. A flag has
precedence over a variable, a variable over the file.`,
    flags: FLAGS,
    examples: ['urlwarden serve --demo'],
  }),
  async run(args) {
    const settings = readCommandSettings(SETTINGS, args);
    const conflicts = conflictsOf(settings);
    if (conflicts.length > 0) throw new UsageError(conflicts.join('\n'));
    const { announced, signal } = stopSignal(settings.stopGraceSeconds * 1000);
    const app = await openApp(settings);
    // Without TLS there is nothing to reload, and SIGHUP keeps its default: the terminal was closed, the process ends.
    if (settings.tlsCertFile !== null) process.on('SIGHUP', () => app.rereadTls());
    const listening = await app.listen();
    await print(greeting(app, listening, settings));
    if (!announced.aborted) await once(AbortSignal.any([announced, app.failed]), 'abort');
    app.announceStop();
    if (!signal.aborted && !app.failed.aborted) await once(AbortSignal.any([signal, app.failed]), 'abort');
    await app.close();
    if (app.failed.aborted) throw app.failed.reason;
    return 0;
  },
};

function greeting(
  { dataDir, place }: App,
  { url, metricsUrl, firstAccount }: Listening,
  { demo: isDemo, noPortal }: Settings,
): string {
  const account = isDemo ? DEMO_ACCOUNT : firstAccount;
  const { username, password } = DEMO_ACCOUNT;
  const logIn = isDemo ? `   log in as ${username} with the password ${password}` : '';
  return [
    `Urlwarden answers on ${url}`,
    ...(noPortal ? [] : [`Pages: ${url}/${logIn}`]),
    `Data: ${place}${isDemo ? ' (demo data)' : ''}`,
    ...(metricsUrl === null ? [] : [`Metrics: ${metricsUrl}`]),
    ...(account === null || (isDemo && !noPortal)
      ? []
      : [`Account: ${account.username}`, `Password: ${passwordText(account, dataDir, isDemo)}`]),
    ...(process.stdout.isTTY ? ['Stop with Ctrl-C.'] : []),
    '',
  ].join('\n');
}

/**
 * The password is shown on a terminal, which only the person who started the server reads. Any other output may be a log
 * with many readers, so the password is written to a file that only its owner can read. The demo password is public.
 */
function passwordText({ username, password }: FirstAccount, dataDir: string, isDemo: boolean): string {
  if (isDemo) return password;
  if (process.stdout.isTTY) return `${password} (shown only once; to set another: ${setPassword(username)})`;
  const file = join(dataDir, 'operator-password');
  try {
    makeFolder(dataDir);
    writeFileSync(file, `${password}\n`, { mode: 0o600 });
    return `in ${file}; delete the file after reading it`;
  } catch (error) {
    return `could not be written to ${file} (${(error as Error).message}); set one with: ${setPassword(username)}`;
  }
}

const setPassword = (username: string): string => `urlwarden account passwd ${username}`;
