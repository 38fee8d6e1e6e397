import { foldFamily } from '../../core/family.ts';
import type { FileReport } from '../../core/records.ts';
import { fileKey } from '../file-key.ts';
import { detailsOf } from '../known-file.ts';
import type { Database } from './database.ts';
import { familyIds } from './dictionary.ts';
import { fillFiles, knowFiles } from './know-file.ts';

/** Fills in details of files in one transaction; returns how many files changed. */
export function createApplyFiles(db: Database, spreadFamilies: () => Promise<void>) {
  return async (files: readonly FileReport[]): Promise<number> => {
    if (files.length === 0) return 0;
    const names = new Set(files.map(({ family }) => family).filter((name) => name !== null));
    const changed = await db.transaction(async (session) => {
      const families = await familyIds(session, names, foldFamily);
      const tellings = files.map((file) => {
        const familyId = file.family === null ? null : (families.get(file.family) ?? null);
        return { key: fileKey(file), told: { familyId, details: detailsOf(file) } };
      });
      const known = await knowFiles(session, tellings);
      await fillFiles(session, known);
      return known.changed;
    });
    await spreadFamilies();
    return changed;
  };
}
