import { openApp } from '../../app.ts';
import { readSettings } from '../../config/read-settings.ts';
import { SETTINGS } from '../../config/settings.ts';
import type { Command } from '../command.ts';
import { EXIT_USAGE } from '../command.ts';
import { print } from '../output.ts';
import { describeSettings } from '../settings-usage.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Answer queries over HTTP.',
  usage: `urlwarden serve [OPTIONS]

${describeSettings(SETTINGS)}
Stop it with Ctrl-C or SIGTERM: running answers are finished first.

  urlwarden serve --demo
`,
  async run(args) {
    const read = readSettings(SETTINGS, args, process.env);
    if (!read.ok) {
      process.stderr.write(`${read.faults.join('\n')}\nSee: urlwarden serve --help\n`);
      return EXIT_USAGE;
    }
    const app = await openApp(read.values);
    await print(`Urlwarden answers on ${app.url}\nData: ${app.dataDir}${read.values.demo ? ' (made-up)' : ''}\n`);
    if (process.stdout.isTTY) await print('Stop with Ctrl-C.\n');
    await stopSignal();
    await app.close();
    return 0;
  },
};

/** One Ctrl-C can arrive twice, from the terminal and from npm; a second one after this is a person in a hurry. */
const REPEATED_SIGNAL_MS = 1_000;

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const stop = () => {
      if (firstMs !== null && Date.now() - firstMs > REPEATED_SIGNAL_MS) process.exit(1);
      firstMs ??= Date.now();
      resolve();
    };
    process.on('SIGINT', stop).on('SIGTERM', stop);
  });
}
