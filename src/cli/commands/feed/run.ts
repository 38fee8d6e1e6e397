import { randomUUID } from 'node:crypto';
import { everyMs } from '../../../ingest/every.ts';
import { createRunFeed } from '../../../ingest/feed-import.ts';
import { type Turn, takeTurn } from '../../../ingest/feed-turn.ts';
import { inputLimits } from '../../../ingest/input-limits.ts';
import { openNetworks } from '../../../ingest/networks.ts';
import type { Control } from '../../../store/control.ts';
import { openControl, openStore } from '../../../store/open.ts';
import { currentTs } from '../../clock.ts';
import { EXIT_FAILURE } from '../../command.ts';
import { dataCommand, type Input } from '../../data-command.ts';
import { INGEST_OPTIONS, INGEST_USAGE, readIngestSettings } from '../../ingest-settings.ts';
import { print } from '../../output.ts';
import { feedJson, requireFeed } from '../../present-feed.ts';
import { count, createProgress } from '../../progress.ts';
import { stopSignal } from '../../stop-signal.ts';

export const feedRun = dataCommand(
  {
    synopsis: 'feed run NAME [--force] [--json]',
    about: `Fetches a feed now and imports it, whether it is due, paused or neither, also beside a running server. Nothing is
imported when the publisher says that nothing is new.
`,
    flags: `  --force         apply a complete listing also when it takes more than half of the feed's URLs offline
${INGEST_USAGE}  --json          for programs: one JSON value instead of text
`,
    operands: ['NAME'],
    options: { force: { type: 'boolean' }, json: { type: 'boolean' }, ...INGEST_OPTIONS },
  },
  async (input) => {
    const control = await openControl(input.place);
    try {
      const name = input.operands[0] ?? '';
      await requireFeed(control, name);
      const turn = await runNow(name, input, control);
      if (turn.outcome === 'failed') throw turn.error;
      const json = { outcome: turn.outcome, feed: feedJson(await requireFeed(control, name), currentTs()) };
      await print(input.options.json ? `${JSON.stringify(json)}\n` : `${name}: ${outcomeText(turn)}\n`);
      return turn.outcome === 'imported' || turn.outcome === 'not_modified' ? 0 : EXIT_FAILURE;
    } finally {
      await control.close();
    }
  },
);

async function runNow(name: string, { options, place }: Input, control: Control): Promise<Turn> {
  const settings = readIngestSettings(options);
  const networks = openNetworks(settings.asnDb);
  const store = await openStore(place);
  const { signal, dispose } = stopSignal();
  const progress = createProgress();
  const runFeed = createRunFeed({
    store,
    control,
    networks,
    allowedNetworks: settings.feedsAllowPrivate,
    resolvesHosts: settings.resolvesHosts,
    limits: inputLimits(settings),
    now: currentTs,
    isForced: options.force === true,
    onProgress: progress.show,
  });
  try {
    const owner = `command ${process.pid} ${randomUUID()}`;
    const turn = { control, runFeed, now: currentTs, random: Math.random, every: everyMs, owner, signal };
    return await takeTurn(name, () => true, turn);
  } finally {
    progress.end();
    dispose();
    await store.close();
  }
}

function outcomeText(turn: Turn): string {
  switch (turn.outcome) {
    case 'imported':
      return `${count(turn.rows ?? 0)} rows. More: urlwarden import list --feed ${turn.feed.name}`;
    case 'not_modified':
      return 'nothing is new since the last time';
    case 'stopped':
      return 'stopped; what was applied stays, and the next run begins anew';
    case 'busy':
      return 'another process is fetching it now';
    default:
      return 'it is gone';
  }
}
