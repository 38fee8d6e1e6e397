import { randomUUID } from 'node:crypto';
import { type Control, openIntelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { everyMs } from '../../core/every.ts';
import { requireAllowedHost } from '../../ingest/feeds/feed-host.ts';
import { createImportFeed } from '../../ingest/feeds/feed-import.ts';
import { type FeedRun, runFeedOnce } from '../../ingest/feeds/feed-run.ts';
import { KNOWN_FEEDS } from '../../ingest/feeds/known-feeds.ts';
import { requireFeed } from '../../ingest/feeds/manage.ts';
import { openNetworks } from '../../ingest/networks.ts';
import { inputLimitsOf } from '../../ingest/sources/format.ts';
import type { Feed } from '../../ingest/store.ts';
import { readFamilies } from '../../ingest/tag-families.ts';
import { orAdvice, withAdvice } from '../advice.ts';
import { EXIT_FAILURE } from '../command.ts';
import { type DataInput, dataCommand, openExistingControl, printResult } from '../data-command.ts';
import { JSON_FLAG } from '../define-command.ts';
import { feedJson } from '../feed-output.ts';
import { INGEST_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { counted, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';
import { currentTs } from '../time.ts';
import type { Flags } from '../usage.ts';

const FLAGS = {
  force: {
    meaning:
      "apply a complete listing or a list even if it looks cut off: more than half of the feed's URLs would go offline, or of its entries be deleted",
  },
  ...INGEST_FLAGS,
  json: JSON_FLAG,
} as const satisfies Flags;

export const feedRun = dataCommand(
  {
    synopsis: 'feed run NAME',
    about: `Fetches a feed now and imports it, even if it is paused or not due. It also works while a server is
running. Nothing is imported if the publisher responds that the feed has not changed.`,
    operands: ['NAME'],
    flags: FLAGS,
  },
  async (input) => {
    const control = await openExistingControl(input.place);
    try {
      const name = input.operands[0] ?? '';
      const feed = await requireFeed(control, name);
      await requireAllowedHost(feed, readIngestSettings(input.flags).feedsAllowPrivate);
      const run = await runNow(name, input, control);
      if (run.outcome === 'failed') throw withAdvice(withHostAdvice(run.error, run.feed));
      const json = { outcome: run.outcome, feed: feedJson((await control.feed(name)) ?? feed, currentTs()) };
      await printResult({ text: `${name}: ${outcomeText(run)}\n`, json }, input.flags.json);
      return run.outcome === 'imported' || run.outcome === 'not_modified' ? 0 : EXIT_FAILURE;
    } finally {
      await control.close();
    }
  },
);

async function runNow(name: string, { flags, place }: DataInput<typeof FLAGS>, control: Control): Promise<FeedRun> {
  const settings = readIngestSettings(flags);
  const networks = openNetworks(settings.asnDb);
  const families = readFamilies(settings.familiesFile);
  const store = await openIntelligence(place);
  const { signal, dispose } = stopSignal();
  const progress = createProgress();
  const importFeed = createImportFeed({
    store,
    control,
    networks,
    families,
    allowedNetworks: settings.feedsAllowPrivate,
    resolvesHosts: settings.resolvesHosts,
    allowReserved: settings.allowReserved,
    limits: inputLimitsOf(settings),
    now: currentTs,
    isForced: flags.force === true,
    onProgress: progress.show,
    onWaiting: progress.showWaiting,
  });
  try {
    const owner = `command ${process.pid} ${randomUUID()}`;
    const options = { control, importFeed, now: currentTs, random: Math.random, every: everyMs, owner, signal };
    return await orAdvice(runFeedOnce(name, () => true, options));
  } finally {
    progress.end();
    dispose();
    await store.close();
  }
}

/** The host name of a well-known feed is not misspelt. */
export function withHostAdvice(error: unknown, { url }: Pick<Feed, 'url'>): unknown {
  const isKnown = KNOWN_FEEDS.some((known) => known.url === url || known.keyedUrl === url);
  if (!isKnown || !(error instanceof AppError)) return error;
  if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOTFOUND') return error;
  const message = `${new URL(url).hostname} has no address: check the network and the DNS server of this machine`;
  return new AppError(error.code, message, { cause: error });
}

function outcomeText(run: FeedRun): string {
  switch (run.outcome) {
    case 'imported':
      return `imported ${counted(run.rows ?? 0, 'row')}. Details: urlwarden import list --feed ${run.feed.name}`;
    case 'not_modified':
      return 'not changed since the last fetch';
    case 'stopped':
      return 'stopped. The rows imported so far stay; the next run starts from the beginning';
    case 'busy':
      return 'another process is fetching this feed now';
    default:
      return 'the feed was paused or removed meanwhile. The rows imported so far stay';
  }
}
