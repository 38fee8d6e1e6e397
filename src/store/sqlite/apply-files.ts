import type { FileReport } from '../../core/records.ts';
import { fileKey } from '../file-key.ts';
import { detailsOf } from '../known-file.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';
import { createKnowFile } from './know-file.ts';

/** Fills in details of files in one transaction; returns how many files changed. */
export function createApplyFiles(db: Database, { families, transaction }: Dictionaries, spreadFamilies: () => void) {
  const knowFile = createKnowFile(db);

  function applyFile(file: FileReport): boolean {
    const familyId = file.family === null ? null : families.idOf(file.family);
    return knowFile(fileKey(file), { familyId, details: detailsOf(file) }).isChanged;
  }

  return (files: readonly FileReport[]): number => {
    const changed = transaction(() => files.filter(applyFile).length);
    spreadFamilies();
    return changed;
  };
}
