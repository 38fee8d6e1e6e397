import { randomUUID } from 'node:crypto';
import { type Control, openControl, openIntelligence } from '../../app/stores.ts';
import { createRunFeed } from '../../ingest/feeds/feed-import.ts';
import { type FeedRun, runFeedOnce } from '../../ingest/feeds/feed-run.ts';
import { everyMs } from '../../ingest/feeds/schedule.ts';
import { openNetworks } from '../../ingest/networks.ts';
import { inputLimitsOf } from '../../ingest/sources/format.ts';
import { EXIT_FAILURE } from '../command.ts';
import { dataCommand, type Input } from '../data-command.ts';
import { feedJson, requireFeed } from '../feed-output.ts';
import { INGEST_OPTIONS, INGEST_USAGE, readIngestSettings } from '../ingest-settings.ts';
import { print } from '../output.ts';
import { count, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';
import { currentTs } from '../time.ts';

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

async function runNow(name: string, { options, place }: Input, control: Control): Promise<FeedRun> {
  const settings = readIngestSettings(options);
  const networks = openNetworks(settings.asnDb);
  const store = await openIntelligence(place);
  const { signal, dispose } = stopSignal();
  const progress = createProgress();
  const runFeed = createRunFeed({
    store,
    control,
    networks,
    allowedNetworks: settings.feedsAllowPrivate,
    resolvesHosts: settings.resolvesHosts,
    limits: inputLimitsOf(settings),
    now: currentTs,
    isForced: options.force === true,
    onProgress: progress.show,
  });
  try {
    const owner = `command ${process.pid} ${randomUUID()}`;
    const turn = { control, runFeed, now: currentTs, random: Math.random, every: everyMs, owner, signal };
    return await runFeedOnce(name, () => true, turn);
  } finally {
    progress.end();
    dispose();
    await store.close();
  }
}

function outcomeText(turn: FeedRun): string {
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
