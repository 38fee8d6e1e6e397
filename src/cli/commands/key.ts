import { rotateKey } from '../../accounts/signing-keys.ts';
import type { CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { currentTs } from '../time.ts';

export const key: CommandGroup = {
  entries: [{ name: 'rotate', summary: 'Sign tokens with a new key from now on.', load: async () => keyRotate }],
};

export const keyRotate = controlCommand(
  {
    synopsis: 'key rotate [--now]',
    about: `Makes a new key, which signs all tokens from then on. Tokens signed before live until they expire, so nobody
notices. Running servers take the new key within five seconds.
`,
    flags: `  --now        drop the older keys: every token is void, and everybody has to log in again
`,
    options: { now: { type: 'boolean' } },
  },
  async (control, { options }) => {
    const { kid } = await rotateKey(control, currentTs(), options.now === true);
    const keys = (await control.keys()).map(({ kid, createdTs }) => ({ kid, created_ts: createdTs }));
    const older = options.now ? 'Tokens signed before are void.' : 'Tokens signed before live until they expire.';
    return { text: `Tokens are signed with the key ${kid} from now on. ${older}\n`, json: { kid, keys } };
  },
);
