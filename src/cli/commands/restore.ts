import { restoreData } from '../../database/backup.ts';
import { dataCommand, requireFolder } from '../data-command.ts';
import { readFileName } from '../operator-input.ts';
import { print } from '../output.ts';

export const restore = dataCommand(
  {
    synopsis: 'restore FILE',
    about: `Creates a data folder from a file that urlwarden backup wrote. The folder must not exist yet, or must be
empty.`,
    operands: ['FILE'],
  },
  async ({ operands: [file = ''], place }) => {
    const dataDir = requireFolder(place);
    await restoreData({ file: readFileName(file), dataDir });
    await print(`Restored to ${dataDir}. Start the server with: urlwarden serve --data ${dataDir}\n`);
    return 0;
  },
);
