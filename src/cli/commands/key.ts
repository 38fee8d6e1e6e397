import { keyFields } from '../../accounts/audit-fields.ts';
import { keysJson, readKeyFile, refuseKeyFile, rotateKey } from '../../accounts/signing-keys.ts';
import { variableOf } from '../../config/read-settings.ts';
import { SETTINGS } from '../../config/settings.ts';
import { recordChange } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { table, timeText } from '../output.ts';
import { readCommandSettings, settingArgs } from '../settings.ts';
import { currentTs } from '../time.ts';

export const key: CommandGroup = {
  entries: [
    { name: 'list', summary: 'List the keys and show which one signs.', load: async () => keyList },
    { name: 'rotate', summary: 'Sign new tokens with a new key.', load: async () => keyRotate },
  ],
};

const { signingKeyFile } = SETTINGS;
const TABLE = { signingKeyFile };
const FILE_FLAG = { 'signing-key-file': { argument: signingKeyFile.argument, meaning: signingKeyFile.meaning } };

/** The file of the flag, of its variable or of urlwarden.toml, as a server would read it. */
const keyFileOf = (flags: FlagValues<typeof FILE_FLAG>): string | null =>
  readCommandSettings(TABLE, settingArgs(TABLE, flags)).signingKeyFile;

const keyList = controlCommand(
  {
    synopsis: 'key list',
    about: `Lists the ids of the keys (kid), the newest first, and shows which one signs new tokens. The others only verify
older tokens. The secrets are never shown. With --signing-key-file, or its variable
${variableOf(signingKeyFile.flag)}, it lists the keys of that file, which a server with this setting uses.`,
    flags: FILE_FLAG,
  },
  async (control, { flags }) => {
    const file = keyFileOf(flags);
    const keys = file === null ? await control.keys() : readKeyFile(file);
    const listed = keysJson(keys, file !== null);
    const rows = listed.map(({ kid, created_ts, signs }) => [
      kid,
      created_ts === null ? 'unknown' : timeText(created_ts),
      signs ? 'signs and verifies' : 'verifies',
    ]);
    return { text: rows.length > 0 ? table(['KID', 'CREATED', 'USE'], rows) : NO_KEYS, json: listed };
  },
);

const NO_KEYS = 'There are no keys. The server creates one when it starts for the first time.\n';

const keyRotate = controlCommand(
  {
    synopsis: 'key rotate',
    about: `Creates a key that signs all new tokens. Existing tokens stay valid until they expire. Running servers
use the new key within five seconds. Keys of --signing-key-file are not changed: edit that file.`,
    flags: {
      ...FILE_FLAG,
      now: { meaning: 'remove the older keys: all existing tokens become invalid, and all clients must log in again' },
    },
  },
  async (control, { flags }) => {
    refuseKeyFile(keyFileOf(flags) !== null);
    const before = await keyFields(control);
    const { kid } = await rotateKey(control, currentTs(), flags.now === true);
    await recordChange(control, { action: 'key.rotate', subject: kid, before, after: await keyFields(control) });
    const keys = (await control.keys()).map(({ kid, createdTs }) => ({ kid, created_ts: createdTs }));
    const older = flags.now ? 'Existing tokens are invalid.' : 'Existing tokens stay valid until they expire.';
    return { text: `New tokens are signed with the key ${kid}. ${older}\n`, json: { kid, keys } };
  },
);
