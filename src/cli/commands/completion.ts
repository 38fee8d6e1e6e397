import type { Command, Entry } from '../command.ts';
import { bashScript, type CompletedCommand, fishScript, zshScript } from '../completion-scripts.ts';
import { defineCommand } from '../define-command.ts';
import { readWord } from '../flag-values.ts';
import { print } from '../output.ts';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };
const SHELL_NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

const HELP = { help: { meaning: 'show the help of this command' } };

/** The script is made from the commands themselves, so this command loads all of them. */
export function completionOf(entries: readonly Entry[]): Command {
  return defineCommand(
    {
      synopsis: 'completion SHELL',
      about: `Prints a script that completes commands, flags and their values in bash, zsh or fish. The script is made for this
version: write it again after an upgrade.

  bash   urlwarden completion bash > ~/.local/share/bash-completion/completions/urlwarden
  zsh    urlwarden completion zsh > a file _urlwarden in a folder of $fpath
  fish   urlwarden completion fish > ~/.config/fish/completions/urlwarden.fish`,
      operands: ['SHELL'],
      operandValues: SHELL_NAMES,
      examples: ['source <(urlwarden completion bash)'],
    },
    async ({ operands: [shell = ''] }) => {
      const script = SHELLS[readWord('SHELL', shell, SHELL_NAMES)];
      const flags = { ...HELP, version: { meaning: 'show the version' } };
      const program = { path: [], commands: entries, flags, operandValues: [], isGroup: true };
      await print(script([program, ...(await completedCommands([], entries))]));
      return 0;
    },
  );
}

async function completedCommands(parents: readonly string[], entries: readonly Entry[]): Promise<CompletedCommand[]> {
  const all = await Promise.all(entries.map((entry) => completedCommand(parents, entry)));
  return all.flat();
}

async function completedCommand(parents: readonly string[], entry: Entry): Promise<CompletedCommand[]> {
  const path = [...parents, entry.name];
  const loaded = await entry.load([]);
  const isGroup = 'entries' in loaded;
  const {
    flags,
    operandValues = [],
    entries: commands = [],
  } = isGroup ? { flags: {}, entries: loaded.entries } : loaded.completes;
  const own = { path, commands, flags: { ...flags, ...HELP }, operandValues, isGroup };
  return [own, ...(await completedCommands(path, commands))];
}
