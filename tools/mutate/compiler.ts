import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** Unused names and unreachable code: a change may cause them, and the code still runs. */
const HARMLESS = new Set([6133, 6138, 6192, 6196, 7027]);

export type Compiler = {
  parse(file: string): SourceFile;
  /** Whether the compiler accepts the file with another text. About 10 ms; no file is written. */
  accepts(file: string, text: string): boolean;
  close(): void;
};

/** The compiler of the project in `root`; file names are relative to it. */
export function openCompiler(root: string, config: string): Compiler {
  const replaced = new Map<string, string>();
  const api = new API({ cwd: root, fs: { readFile: (file) => replaced.get(file) } });
  const configFile = join(root, config);
  const programOf = (snapshot: ReturnType<typeof api.updateSnapshot>) => {
    const project = snapshot.getProject(configFile);
    if (project === undefined) throw new Error(`${config} cannot be opened`);
    return project.program;
  };
  let snapshot = api.updateSnapshot({ openProjects: [configFile] });
  const reload = (path: string) => {
    snapshot.dispose();
    snapshot = api.updateSnapshot({ fileChanges: { changed: [path] } });
  };

  return {
    parse(file) {
      const source = programOf(snapshot).getSourceFile(join(root, file));
      if (source === undefined) throw new Error(`${file} is not part of ${config}`);
      return source;
    },
    accepts(file, text) {
      const path = join(root, file);
      replaced.set(path, text);
      reload(path);
      const program = programOf(snapshot);
      const faults = [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)];
      replaced.delete(path);
      reload(path);
      return faults.every(({ code }) => HARMLESS.has(code));
    },
    close: () => api.close(),
  };
}
