/**
 * The scripts that complete words in a shell. They contain commands, flags and choices, so that most keys start no process;
 * for values that only this machine knows they call `millrace __complete`.
 */
import { GLOBAL_FLAGS } from "../flags.ts";
import type { CliCommand, Completer, FlagSpec } from "../spec.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

type Commands = readonly CliCommand[];

export function completionScript(shell: Shell, commands: Commands): string {
  return { bash, zsh, fish }[shell](commands);
}

/** Flags that may stand before a command. */
const FIRST_FLAGS: readonly FlagSpec[] = [
  ...GLOBAL_FLAGS,
  { long: "help", short: "h", summary: "show help" },
  { long: "version", short: "V", summary: "print the version" },
];

const pathOf = (words: readonly string[]): string => words.join(" ");
const isGroup = (path: string, commands: Commands): boolean =>
  groups(commands).some((words) => pathOf(words) === path);

/** Every path of words that is a command or a group of commands. */
function paths(commands: Commands): string[] {
  return [
    ...new Set([...groups(commands).map(pathOf), ...commands.map(({ path }) => pathOf(path))]),
  ].filter((path) => path !== "");
}

function spellings({ long, short }: FlagSpec): string[] {
  return short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`];
}

/** Flags of every command that have a value, as they may stand before the command. */
function valueFlags(): string[] {
  return GLOBAL_FLAGS.filter(({ value }) => value !== undefined).map(({ long }) => `--${long}`);
}

/** Branches of a `case` over the path: what may follow it. `list` is words, `ask` asks, neither is files; `also` is files, too. */
function pathCases(commands: Commands): string {
  const after = groups(commands).map((words) => {
    const list = wordsAfter(words, commands).map(({ word }) => word);
    const flags = words.length === 0 ? FIRST_FLAGS.map(({ long }) => `--${long}`) : ["--help"];
    return `    ${JSON.stringify(pathOf(words))}) list="${list.join(" ")}" flags="${flags.join(" ")}" ;;`;
  });
  const leaves = commands
    .filter(({ path }) => !isGroup(pathOf(path), commands))
    .map((command) => {
      const flags = flagsOf(command).map(({ long }) => `--${long}`);
      const asked = command.args.filter(({ complete }) => complete !== undefined);
      const ask =
        asked.length === 0 ? "" : asked.some(({ orFile }) => orFile) ? " ask=1 also=1" : " ask=1";
      return `    ${JSON.stringify(pathOf(command.path))}) flags="${flags.join(" ")}"${ask} ;;`;
    });
  return [...after, ...leaves].join("\n");
}

/** Branches of a `case` over the path and the word before: values of flags. */
function valueCases(commands: Commands): string {
  return [
    { path: [], flags: GLOBAL_FLAGS },
    ...commands.map((command) => ({ path: command.path, flags: flagsOf(command) })),
  ]
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ value }) => value !== undefined)
        .map((flag) => {
          const patterns = spellings(flag).map((word) => `"${pathOf(path)} ${word}"`);
          const then =
            flag.choices !== undefined
              ? `list="${flag.choices.join(" ")}"`
              : flag.complete === undefined
                ? "files=1"
                : "ask=1";
          return `    ${patterns.join("|")}) list= flags= ask= also= ; ${then} ;;`;
        }),
    )
    .join("\n");
}

function pathPatterns(commands: Commands): string {
  return paths(commands)
    .map((path) => JSON.stringify(path))
    .join("|");
}

/** The end of the loop over words, and what may follow where it stopped: the same in bash and zsh. */
function stepAndCases(commands: Commands): string {
  return `    case "\${at:+$at }$word" in
      ${pathPatterns(commands)}) at="\${at:+$at }$word" ;;
      *) break ;;
    esac
  done
  case "$at" in
${pathCases(commands)}
  esac
  case "$at $prev" in
${valueCases(commands)}
  esac`;
}

function bash(commands: Commands): string {
  return `# Completion of millrace. In ~/.bashrc: source <(millrace completion bash)
_millrace() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local at="" list="" flags="" ask="" also="" files="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -z $at && $word == -* ]]; then
      if [[ \${COMP_WORDS[i+1]} == "=" ]]; then ((i += 2)); else case "$word" in ${valueFlags().join("|")}) ((i += 1)) ;; esac; fi
      continue
    fi
${stepAndCases(commands)}
  COMPREPLY=()
  if [[ -n $files ]]; then return; fi
  if [[ $cur == -* && -n $flags ]]; then list="$flags"
  elif [[ -n $ask ]]; then list="$(millrace __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  fi
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
  if [[ -n $also && $cur != -* && \${#COMPREPLY[@]} -gt 0 ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  fi
}
complete -o bashdefault -o default -F _millrace millrace
`;
}

function zsh(commands: Commands): string {
  return `#compdef millrace
# Completion of millrace. In ~/.zshrc, after compinit: source <(millrace completion zsh)
_millrace() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}"
  local at="" list="" flags="" ask="" also="" files="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -z $at && $word == -* ]]; then
      case "$word" in ${valueFlags().join("|")}) ((i += 1)) ;; esac
      continue
    fi
${stepAndCases(commands)}
  if [[ -n $files ]]; then _files; return; fi
  if [[ $cur == -* && -n $flags ]]; then list="$flags"
  elif [[ -n $ask ]]; then list="$(millrace __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"
  fi
  if [[ -n $list ]]; then compadd -- \${=list}; fi
  if [[ -z $list || ( -n $also && $cur != -* ) ]]; then _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _millrace "$@"; else compdef _millrace millrace; fi
`;
}

function fish(commands: Commands): string {
  const quote = (text: string): string =>
    `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const at = (path: readonly string[]): string =>
    `-n ${quote(`__millrace_at ${quote(pathOf(path))}`)}`;
  const lines = groups(commands).flatMap((words) =>
    wordsAfter(words, commands).map(
      ({ word, summary }) => `complete -c millrace -f ${at(words)} -a ${word} -d ${quote(summary)}`,
    ),
  );
  const flagLines = (path: readonly string[], flags: readonly FlagSpec[]): string[] =>
    flags.map(({ long, short, value, choices, complete, summary }) => {
      const takes =
        value === undefined
          ? ""
          : choices !== undefined
            ? ` -x -a ${quote(choices.join(" "))}`
            : complete === undefined
              ? " -r"
              : " -x -a '(__millrace_ask)'";
      return `complete -c millrace ${at(path)} -l ${long}${short === undefined ? "" : ` -s ${short}`}${takes} -d ${quote(summary)}`;
    });
  const leaves = commands
    .filter(({ path }) => !isGroup(pathOf(path), commands))
    .flatMap((command) => {
      const flags = flagLines(command.path, flagsOf(command));
      const asked = command.args.filter(({ complete }) => complete !== undefined);
      const only = asked.some(({ orFile }) => orFile) ? "" : " -f";
      return asked.length > 0
        ? [...flags, `complete -c millrace ${at(command.path)}${only} -a '(__millrace_ask)'`]
        : flags;
    });
  return `# Completion of millrace. In config.fish: millrace completion fish | source
function __millrace_ask
  set -l words (commandline -opc) (commandline -ct)
  millrace __complete -- $words[2..-1] 2>/dev/null
end
function __millrace_at
  set -l at
  set -l skip
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip
      continue
    end
    if test -z "$at"; and string match -q -- '-*' $word
      contains -- $word ${valueFlags().join(" ")}; and set skip 1
      continue
    end
    set -l next (string trim -- "$at $word")
    switch $next
      case ${paths(commands).map(quote).join(" ")}
        set at $next
      case '*'
        break
    end
  end
  test "$at" = "$argv[1]"
end
${[...flagLines([], FIRST_FLAGS), ...lines, ...leaves].join("\n")}
`;
}

/** Flags of a command with those of every command. */
export function flagsOf({ flags }: CliCommand): readonly FlagSpec[] {
  return [...flags, ...GLOBAL_FLAGS, { long: "help", short: "h", summary: "show help" }];
}

/** Words that may follow the ones of a group, in the order of the table; empty for a command. */
export function wordsAfter(
  words: readonly string[],
  commands: readonly CliCommand[],
): readonly { readonly word: string; readonly summary: string }[] {
  const found = new Map<string, string>();
  for (const { path, summary } of commands) {
    if (path.length <= words.length || !words.every((word, at) => word === path[at])) continue;
    const word = path[words.length] as string;
    const isLeaf = path.length === words.length + 1;
    found.set(word, isLeaf ? summary : (found.get(word) ?? `${word} …`));
  }
  return [...found].map(([word, summary]) => ({ word, summary }));
}

/** Every sequence of words that needs another word, the empty one first. */
function groups(commands: readonly CliCommand[]): readonly (readonly string[])[] {
  const found = new Map<string, readonly string[]>([["", []]]);
  for (const { path } of commands) {
    for (let depth = 1; depth < path.length; depth += 1) {
      const words = path.slice(0, depth);
      found.set(words.join(" "), words);
    }
  }
  return [...found.values()];
}

/** Where the values of an argument come from, when it is not the name of a file. */
export function completerAt({ args }: CliCommand, at: number): Completer | undefined {
  const arg = args[at] ?? args.findLast((each) => each.variadic);
  return arg?.complete;
}
