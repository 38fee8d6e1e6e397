import type { Equivalent } from './equivalent.ts';
import type { Mutant } from './mutants.ts';
import type { Outcome, Result } from './mutate-file.ts';

export type Report = { totals: string; lines: string[]; isClean: boolean };

/** The results of some files. Survivors that are listed as equivalent are counted, not printed. */
export function reportOf(results: readonly Result[], equivalent: Record<string, readonly Equivalent[]>): Report {
  const survivors = results.filter(({ outcome }) => outcome === 'survived').map(({ mutant }) => mutant);
  const explained = survivors.filter((mutant) => isExplained(mutant, equivalent[mutant.file] ?? []));
  const unexplained = survivors.filter((mutant) => !explained.includes(mutant));
  const stale = [...new Set(results.map(({ mutant }) => mutant.file))].flatMap((file) =>
    (equivalent[file] ?? []).flatMap(({ line, changes }) =>
      changes
        .filter((change) => !survivors.some((mutant) => mutant.file === file && isSame(line, change, mutant)))
        .map((change) => `  not equivalent any more: ${change}\n      ${line}`),
    ),
  );
  const count = (outcome: Outcome) => results.filter((one) => one.outcome === outcome).length;
  return {
    totals:
      `${results.length} mutants: ${count('killed')} killed, ${count('hung')} hung, ${count('refused')} refused by ` +
      `the compiler, ${survivors.length} survived (${explained.length} equivalent)`,
    lines: [
      ...unexplained.map(({ file, line, change, lineText }) => `  ${file}:${line}: ${change}\n      ${lineText}`),
      ...stale,
    ],
    isClean: unexplained.length === 0 && stale.length === 0,
  };
}

function isExplained(mutant: Mutant, entries: readonly Equivalent[]): boolean {
  return entries.some(({ line, changes }) => changes.some((change) => isSame(line, change, mutant)));
}

function isSame(line: string, change: string, mutant: Mutant): boolean {
  return line === mutant.lineText && change === mutant.change;
}
