import type { FeedChange } from '../../../store/control.ts';
import { currentTs } from '../../clock.ts';
import type { Command } from '../../command.ts';
import { controlCommand } from '../../data-command.ts';
import { feedJson, requireFeed } from '../../present-feed.ts';

type Switch = { name: string; about: string; outcome: string; change(nowTs: number): FeedChange };

export const feedPause = feedSwitch({
  name: 'pause',
  about: 'Stops fetching the feed until urlwarden feed resume; a run that is under way ends as usual.\n',
  outcome: 'is paused',
  change: () => ({ isPaused: true }),
});

export const feedResume = feedSwitch({
  name: 'resume',
  about: 'Fetches a paused feed again, within seconds where a server runs. Also ends the waiting after failures.\n',
  outcome: 'is fetched again',
  change: (nowTs) => ({ isPaused: false, nextRunTs: nowTs }),
});

function feedSwitch({ name: verb, about, outcome, change }: Switch): Command {
  return controlCommand(
    { synopsis: `feed ${verb} NAME`, about, operands: ['NAME'] },
    async (control, { operands: [name = ''] }) => {
      await requireFeed(control, name);
      await control.changeFeed(name, change(currentTs()));
      const json = feedJson(await requireFeed(control, name), currentTs());
      return { text: `${name} ${outcome}.\n`, json };
    },
  );
}
