import type { Flag, Flags } from './usage.ts';

/** What can follow the words of `path`: commands, flags and operands. */
export type CompletedCommand = {
  /** The names after `urlwarden`. */
  path: readonly string[];
  commands: readonly { name: string; summary: string }[];
  flags: Flags;
  operandValues: readonly string[];
  /** A group has only commands after it; a command may have file names. */
  isGroup: boolean;
};

// Each script finds the command that the words before the cursor name, as ` feed add`, then completes what can follow it.
// Texts are quoted by `quote`; names of commands, flags and values have no special characters.

/** `bash-completion` loads it when it is first needed. `-o default`: file names where nothing else is offered. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of urlwarden for bash. Made by: urlwarden completion bash
_urlwarden() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' i
  COMPREPLY=()
  # bash splits --flag=value at the sign
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${pathPattern(commands, '|')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $prev" in
${flagCases(commands, bashValue)}
  esac
  if [[ $cur == -* ]]; then
    case "$path" in
${pathCases(commands, ({ flags }) => `words=${quote(flagWords(flags).join(' '))}`)}
    esac
  else
    case "$path" in
${pathCases(commands, (command) => `words=${quote(nextWords(command).join(' '))}`)}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _urlwarden urlwarden urlwarden.js
`;
}

function bashValue({ values = [] }: Flag): string {
  return `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$cur")); return`;
}

/**
 * As a file `_urlwarden` in $fpath it is the function itself; when it is sourced, it registers the function. zsh replaces an
 * alias before it completes, so the name of the file in a clone is registered too.
 */
export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef urlwarden urlwarden.js
# Completion of urlwarden for zsh. Made by: urlwarden completion zsh
_urlwarden() {
  local current=\${words[CURRENT]} previous=\${words[CURRENT-1]} path_='' i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$path_ \${words[i]}" in
      ${pathPattern(commands, '|')}) path_="$path_ \${words[i]}" ;;
    esac
  done
  case "$path_ $previous" in
${flagCases(commands, zshValue)}
  esac
  if [[ $current == -* ]]; then
    case "$path_" in
${pathCases(commands, zshFlags)}
    esac
    _describe flag found
    return
  fi
  case "$path_" in
${pathCases(commands, zshWords)}
  esac
  if (( \${#found} )); then _describe command found; else _files; fi
}
if [[ \${funcstack[1]} == _urlwarden ]]; then _urlwarden "$@"; else compdef _urlwarden urlwarden urlwarden.js; fi
`;
}

function zshFlags({ flags }: CompletedCommand): string {
  const entries = Object.entries(flags).map(([name, { meaning }]) => zshEntry(`--${name}`, meaning));
  return `found=(${entries.join(' ')})`;
}

function zshWords({ commands, operandValues }: CompletedCommand): string {
  const entries = [
    ...commands.map(({ name, summary }) => zshEntry(name, summary)),
    ...operandValues.map((value) => zshEntry(value, '')),
  ];
  return `found=(${entries.join(' ')})`;
}

function zshValue({ argument, values = [] }: Flag): string {
  if (values.length > 0) return `compadd -- ${values.map(quote).join(' ')}; return`;
  return isFile(argument) ? '_files; return' : 'return';
}

export function fishScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of urlwarden for fish. Made by: urlwarden completion fish
function __urlwarden_at
    set -l path ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        switch "$path $word"
            case ${pathPattern(commands, ' ')}
                set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end
${commands.map(fishCommand).join('')}`;
}

function fishCommand(command: CompletedCommand): string {
  const { path, commands, flags, operandValues, isGroup } = command;
  const start = `complete -c urlwarden -n "__urlwarden_at ${quote(pathText(path))}"`;
  const hasWords = commands.length + operandValues.length > 0;
  return [
    ...(isGroup || hasWords ? [`${start} -f`] : []),
    ...commands.map(({ name, summary }) => `${start} -a ${name} -d ${quote(summary)}`),
    ...(operandValues.length > 0 ? [`${start} -a ${quote(operandValues.join(' '))}`] : []),
    ...Object.entries(flags).map(([name, { argument, meaning, values = [] }]) => {
      const kind = argument === undefined ? '' : fishValue(argument, values);
      return `${start} -l ${name}${kind} -d ${quote(shortMeaning(meaning))}`;
    }),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function fishValue(argument: string, values: readonly string[]): string {
  if (values.length > 0) return ` -x -a ${quote(values.join(' '))}`;
  return isFile(argument) ? ' -r -F' : ' -x';
}

function isFile(argument = ''): boolean {
  return /FILE|DIR/.test(argument);
}

/** ` feed add`, and nothing for the program itself. */
function pathText(path: readonly string[]): string {
  return path.map((name) => ` ${name}`).join('');
}

/** All paths but that of the program itself. */
function pathPattern(commands: readonly CompletedCommand[], separator: string): string {
  const paths = commands.map(({ path }) => path).filter((path) => path.length > 0);
  return paths.map((path) => quote(pathText(path))).join(separator);
}

function pathCases(commands: readonly CompletedCommand[], effect: (command: CompletedCommand) => string): string {
  return commands.map((command) => `      ${quote(pathText(command.path))}) ${effect(command)} ;;`).join('\n');
}

/** One case per flag with an argument, for the word after it. */
function flagCases(commands: readonly CompletedCommand[], effect: (flag: Flag) => string): string {
  return commands
    .flatMap(({ path, flags }) =>
      Object.entries(flags)
        .filter(([, { argument }]) => argument !== undefined)
        .map(([name, flag]) => `    ${quote(`${pathText(path)} --${name}`)}) ${effect(flag)} ;;`),
    )
    .join('\n');
}

function flagWords(flags: Flags): string[] {
  return Object.keys(flags).map((name) => `--${name}`);
}

function nextWords({ commands, operandValues }: CompletedCommand): string[] {
  return [...commands.map(({ name }) => name), ...operandValues];
}

/** A word and its meaning, as `_describe` of zsh expects them. */
function zshEntry(word: string, meaning: string): string {
  return quote(meaning === '' ? word : `${word}:${shortMeaning(meaning)}`);
}

/** Shells show one line per word. */
const MEANING_COLUMNS = 60;

function shortMeaning(meaning: string): string {
  const [line = ''] = meaning.split('\n');
  return line.length <= MEANING_COLUMNS ? line : `${line.slice(0, MEANING_COLUMNS - 1)}…`;
}

/** In single quotes; the form of a quote inside them is the same for these shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
