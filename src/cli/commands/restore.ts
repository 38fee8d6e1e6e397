import { restoreData } from '../../store/backup.ts';
import { dataCommand } from '../data-command.ts';
import { print } from '../output.ts';

export const restore = dataCommand(
  {
    synopsis: 'restore FILE',
    about: 'Makes a data folder from a file that urlwarden backup wrote. The folder must be new or empty.\n',
    operands: ['FILE'],
  },
  async ({ operands: [file = ''], dataDir }) => {
    await restoreData({ file, dataDir });
    await print(`Restored into ${dataDir}. Start with: urlwarden serve --data ${dataDir}\n`);
    return 0;
  },
);
