import { statSync } from 'node:fs';
import { backupData } from '../../database/backup.ts';
import { dataCommand, requireFolder } from '../data-command.ts';
import { readFileName } from '../operator-input.ts';
import { print } from '../output.ts';
import { createProgress } from '../progress.ts';

export const backup = dataCommand(
  {
    synopsis: 'backup FILE',
    about: `Writes all data of a folder, including accounts and keys, to one file that only you can read. Servers and
imports keep running. FILE must not exist yet; it appears under this name when it is complete.
To restore it: urlwarden restore FILE`,
    operands: ['FILE'],
  },
  async ({ operands: [operand = ''], place }) => {
    const file = readFileName(operand);
    const progress = createProgress();
    const onProgress = (share: number) => {
      // A scheduled backup that succeeds writes nothing to standard error.
      if (process.stderr.isTTY) progress.showStep(share, stepText(share), share === 1);
    };
    try {
      await backupData({ dataDir: requireFolder(place), file, onProgress });
    } finally {
      progress.end();
    }
    await print(`Wrote ${file}: ${megabytes(statSync(file).size)} MB\n`);
    return 0;
  },
);

function stepText(share: number): string {
  return share === 1 ? 'copied; the copy is checked' : `${Math.floor(share * 100)} % copied`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
