import { rotateKey } from '../../accounts/signing-keys.ts';
import type { Control } from '../../app/stores.ts';
import type { Fields } from '../../audit/entry.ts';
import { recordChange } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { currentTs } from '../time.ts';

export const key: CommandGroup = {
  entries: [{ name: 'rotate', summary: 'Sign new tokens with a new key.', load: async () => keyRotate }],
};

const keyRotate = controlCommand(
  {
    synopsis: 'key rotate',
    about: `Creates a key that signs all new tokens. Existing tokens stay valid until they expire. Running servers
use the new key within five seconds.`,
    flags: {
      now: { meaning: 'remove the older keys: all existing tokens become invalid, and all users must log in again' },
    },
  },
  async (control, { flags }) => {
    const before = await keyFields(control);
    const { kid } = await rotateKey(control, currentTs(), flags.now === true);
    await recordChange(control, { action: 'key.rotate', subject: kid, before, after: await keyFields(control) });
    const keys = (await control.keys()).map(({ kid, createdTs }) => ({ kid, created_ts: createdTs }));
    const older = flags.now ? 'Existing tokens are invalid.' : 'Existing tokens stay valid until they expire.';
    return { text: `New tokens are signed with the key ${kid}. ${older}\n`, json: { kid, keys } };
  },
);

/** The ids of all keys, for the audit log. */
async function keyFields(control: Control): Promise<Fields> {
  return { keys: (await control.keys()).map(({ kid }) => kid) };
}
