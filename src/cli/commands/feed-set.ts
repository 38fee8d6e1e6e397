import { randomUUID } from 'node:crypto';
import { checkFeedHost } from '../../ingest/feeds/feed-host.ts';
import {
  changeFeed,
  changeOfFeed,
  evidenceOfFeed,
  type FeedValues,
  feedFields,
  requireFeed,
  whileNotFetched,
} from '../../ingest/feeds/manage.ts';
import { shownUrl } from '../../ingest/sources/fetch-url.ts';
import type { Feed } from '../../ingest/store.ts';
import { recordChange } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { flagName } from '../evidence-flags.ts';
import { feedJson } from '../feed-output.ts';
import { asUsage } from '../flag-values.ts';
import { readIngestSettings } from '../ingest-settings.ts';
import { currentTs, spanText } from '../time.ts';
import type { Flags } from '../usage.ts';
import { FEED_FLAGS, readHeaders, readValues } from './feed-add.ts';

const FLAGS = {
  ...FEED_FLAGS,
  every: { argument: 'TIME', meaning: 'interval from 1m to 30d, such as 5m, 1h or 7d' },
  header: { argument: 'NAME', meaning: 'a header to add or replace; asks for its value' },
  'header-file': {
    argument: 'FILE',
    meaning: 'headers to add or replace, one "NAME: VALUE" per line; - is standard input',
  },
  'no-headers': { meaning: 'send none of the present headers any more' },
  'no-complete': { meaning: 'a fetch does not list all URLs that are online' },
  'no-private': { meaning: 'the URL is not in a private network' },
  life: {
    argument: 'TIME',
    meaning: 'how long a listing lives without new evidence, from 1h to 366d; default: that of its dataset again',
  },
  trust: { argument: 'NUMBER', meaning: 'trust in evidence about addresses and domains, from 0 to 0.9' },
} as const satisfies Flags;

export const feedSet = controlCommand(
  {
    synopsis: 'feed set NAME',
    about: `Changes what the flags name; everything else of the feed stays, also its name and its data. Unless only the
interval changes, a running server fetches the feed within seconds. To stop fetching it, use urlwarden feed pause.

Data that is already stored does not change: a new dataset, kind or list counts for what is fetched from now on, and
earlier listings expire as before. Trust and life count for all evidence of the feed after its next run.

Present headers are not sent to another scheme, host or port: with a --url there, give them again or add --no-headers.`,
    operands: ['NAME'],
    flags: FLAGS,
    examples: [
      'urlwarden feed set urlhaus --every 15m',
      'urlwarden feed set mirror --url https://mirror.example/new.csv --no-complete',
    ],
  },
  async (control, { operands: [name = ''], flags }) => {
    refuseContradictions(flags);
    const current = await requireFeed(control, name);
    // Before a person types a key.
    const note = await checkPlace(current, flags);
    const headers = await readHeaders(flags); // before the lease: a person may take long to type a value
    const header = { added: headers, dropsOthers: flags['no-headers'] === true, advice: HEADER_ADVICE };
    const values = readChange(flags);
    const nowTs = currentTs();
    const lease = { name, owner: `command ${process.pid} ${randomUUID()}`, nowTs };
    const changed = await whileNotFetched(control, lease, async (feed) => {
      asUsage(() => evidenceOfFeed(feed, values, flagName));
      const change = changeOfFeed(feed, values, header, { nowTs, nameOf: flagName });
      await changeFeed(control, name, change);
      const after = { ...feed, ...change };
      await recordChange(control, {
        action: 'feed.set',
        subject: name,
        before: feedFields(feed),
        after: feedFields(after),
      });
      return after;
    });
    const text = `Changed ${name}: ${changed.format} from ${shownUrl(changed.url)} every ${spanText(changed.intervalSeconds)}.\n`;
    const json = feedJson(changed, currentTs());
    return note === null ? { text, json } : { text: `${text}Note: ${note}\n`, json: { ...json, note } };
  },
);

type Given = FlagValues<typeof FLAGS>;

/** Flags of the command itself, not of the place of the data. */
function refuseContradictions(given: Given): void {
  const names = Object.keys(FLAGS) as (keyof Given)[];
  if (names.every((name) => given[name] === undefined)) {
    throw new UsageError(
      `There is nothing to change: give at least one of ${names.map((name) => `--${name}`).join(', ')}`,
    );
  }
  for (const flag of ['complete', 'private'] as const) {
    if (given[flag] && given[`no-${flag}`]) throw new UsageError(`--${flag} and --no-${flag} contradict each other`);
  }
}

/** As for `feed add`; only if the place of the feed changes. */
async function checkPlace(feed: Feed, flags: Given): Promise<string | null> {
  if (flags.url === undefined && !flags.private && !flags['no-private']) return null;
  const isPrivate = flags.private ?? (flags['no-private'] ? false : feed.allowsPrivate);
  const networks = { allowed: readIngestSettings(flags).feedsAllowPrivate, of: 'command' } as const;
  return checkFeedHost(flags.url ?? feed.url, isPrivate, networks);
}

const HEADER_ADVICE = 'Give it again with --header or --header-file, or remove it with --no-headers.';

function readChange(given: Given): FeedValues {
  const { life, ...others } = given;
  const isDefaultLife = life === 'default';
  return {
    ...readValues({ ...others, life: isDefaultLife ? undefined : life }),
    isComplete: given.complete ?? (given['no-complete'] ? false : undefined),
    allowsPrivate: given.private ?? (given['no-private'] ? false : undefined),
    ...(isDefaultLife && { lifeSeconds: null }),
  };
}
