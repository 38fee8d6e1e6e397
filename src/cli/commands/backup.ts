import { statSync } from 'node:fs';
import { backupData } from '../../database/backup.ts';
import { dataCommand, requireFolder } from '../data-command.ts';
import { print } from '../output.ts';

export const backup = dataCommand(
  {
    synopsis: 'backup FILE',
    about: `Writes all data of a folder, including accounts and keys, to one file that only you can read. Servers and
imports keep running. FILE must not exist yet; it appears under this name when it is complete.
To restore it: urlwarden restore FILE`,
    operands: ['FILE'],
  },
  async ({ operands: [file = ''], place }) => {
    await backupData({ dataDir: requireFolder(place), file, onProgress: showProgress });
    if (process.stderr.isTTY) process.stderr.write('\n');
    await print(`Wrote ${file}: ${megabytes(statSync(file).size)} MB\n`);
    return 0;
  },
);

function showProgress(share: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${Math.floor(share * 100)} %`);
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
