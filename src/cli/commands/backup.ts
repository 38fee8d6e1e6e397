import { statSync } from 'node:fs';
import { backupData } from '../../database/backup.ts';
import { dataCommand, requireFolder } from '../data-command.ts';
import { print } from '../output.ts';

export const backup = dataCommand(
  {
    synopsis: 'backup FILE',
    about: `Writes all data, accounts and keys included, to one file that only you can read. Servers and imports go on
meanwhile. FILE must not be there yet; it has its name when it is complete. Back with urlwarden restore.
`,
    operands: ['FILE'],
  },
  async ({ operands: [file = ''], place }) => {
    await backupData({ dataDir: requireFolder(place), file, onProgress: showProgress });
    if (process.stderr.isTTY) process.stderr.write('\n');
    await print(`${file}: ${megabytes(statSync(file).size)} MB\n`);
    return 0;
  },
);

function showProgress(share: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${Math.floor(share * 100)} %`);
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
