import { restoreData } from '../../database/backup.ts';
import { dataCommand, requireFolder } from '../data-command.ts';
import { print } from '../output.ts';

export const restore = dataCommand(
  {
    synopsis: 'restore FILE',
    about: 'Makes a data folder from a file that urlwarden backup wrote. The folder must be new or empty.\n',
    operands: ['FILE'],
  },
  async ({ operands: [file = ''], place }) => {
    const dataDir = requireFolder(place);
    await restoreData({ file, dataDir });
    await print(`Restored into ${dataDir}. Start with: urlwarden serve --data ${dataDir}\n`);
    return 0;
  },
);
