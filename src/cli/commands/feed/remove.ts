import { currentTs } from '../../clock.ts';
import { controlCommand } from '../../data-command.ts';
import { feedJson, requireFeed } from '../../present-feed.ts';
import { confirm } from '../../terminal.ts';

export const feedRemove = controlCommand(
  {
    synopsis: 'feed remove NAME [--yes]',
    about: `Removes a feed and its headers. What it brought stays. To keep it and stop fetching it, see urlwarden feed pause.
`,
    flags: `  --yes        do not ask
`,
    operands: ['NAME'],
    options: { yes: { type: 'boolean' } },
  },
  async (control, { operands: [name = ''], options }) => {
    const feed = await requireFeed(control, name);
    if (!options.yes) await confirm(`Remove the feed ${feed.name}?`);
    await control.removeFeed(feed.name);
    return { text: `Removed ${feed.name}.\n`, json: feedJson(feed, currentTs()) };
  },
);
