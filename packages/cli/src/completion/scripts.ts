/**
 * The scripts that complete words in a shell. Commands, flags and choices stand in them, so that most keys start no process;
 * values that only this machine knows are asked of `millrace __complete`.
 */
import type { FlagSpec } from "../command.ts";
import { flagsOf, groups, TYPED, wordsAfter } from "./words.ts";

/** Shells that there is a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The script of a shell, from the table. */
export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell]();
}

const pathOf = (words: readonly string[]): string => words.join(" ");
const isGroup = (path: string): boolean => groups().some((words) => pathOf(words) === path);

/** Every path of words that is a command or a group of commands. */
function paths(): string[] {
  return [...new Set([...groups().map(pathOf), ...TYPED.map(({ path }) => pathOf(path))])].filter(
    (path) => path !== "",
  );
}

/** The spellings of a flag. */
function spellings({ long, short }: FlagSpec): string[] {
  return short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`];
}

/** Branches of a `case` over the path: what may follow it. `list` is words, `ask` asks, neither is files. */
function pathCases(): string {
  const after = groups().map((words) => {
    const list = wordsAfter(words).map(({ word }) => word);
    return `    ${JSON.stringify(pathOf(words))}) list="${list.join(" ")}" ;;`;
  });
  const commands = TYPED.filter(({ path }) => !isGroup(pathOf(path))).map((command) => {
    const flags = flagsOf(command).map(({ long }) => `--${long}`);
    const ask = command.args.some(({ complete }) => complete !== undefined) ? " ask=1" : "";
    return `    ${JSON.stringify(pathOf(command.path))}) flags="${flags.join(" ")}"${ask} ;;`;
  });
  return [...after, ...commands].join("\n");
}

/** Branches of a `case` over the path and the word before: values of flags. */
function valueCases(): string {
  return TYPED.flatMap((command) =>
    flagsOf(command)
      .filter(({ value }) => value !== undefined)
      .map((flag) => {
        const patterns = spellings(flag).map((word) => `"${pathOf(command.path)} ${word}"`);
        const then =
          flag.choices !== undefined
            ? `list="${flag.choices.join(" ")}"`
            : flag.complete === undefined
              ? "files=1"
              : "ask=1";
        return `    ${patterns.join("|")}) list= flags= ask= ; ${then} ;;`;
      }),
  ).join("\n");
}

function pathPatterns(): string {
  return paths()
    .map((path) => JSON.stringify(path))
    .join("|");
}

function bash(): string {
  return `# Completion of millrace. In ~/.bashrc: source <(millrace completion bash)
_millrace() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local at="" list="" flags="" ask="" files="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${at:+$at }$word" in
      ${pathPatterns()}) at="\${at:+$at }$word" ;;
      *) break ;;
    esac
  done
  case "$at" in
${pathCases()}
  esac
  case "$at $prev" in
${valueCases()}
  esac
  COMPREPLY=()
  if [[ -n $files ]]; then return; fi
  if [[ $cur == -* && -n $flags ]]; then list="$flags"
  elif [[ -n $ask ]]; then list="$(millrace __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  fi
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
}
complete -o bashdefault -o default -F _millrace millrace
`;
}

function zsh(): string {
  return `#compdef millrace
# Completion of millrace. In ~/.zshrc, after compinit: source <(millrace completion zsh)
_millrace() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}"
  local at="" list="" flags="" ask="" files="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "\${at:+$at }$word" in
      ${pathPatterns()}) at="\${at:+$at }$word" ;;
      *) break ;;
    esac
  done
  case "$at" in
${pathCases()}
  esac
  case "$at $prev" in
${valueCases()}
  esac
  if [[ -n $files ]]; then _files; return; fi
  if [[ $cur == -* && -n $flags ]]; then list="$flags"
  elif [[ -n $ask ]]; then list="$(millrace __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"
  fi
  if [[ -n $list ]]; then compadd -- \${=list}; else _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _millrace "$@"; else compdef _millrace millrace; fi
`;
}

function fish(): string {
  const quote = (text: string): string =>
    `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = groups().flatMap((words) =>
    wordsAfter(words).map(
      ({ word, summary }) =>
        `complete -c millrace -f -n ${quote(`__millrace_at ${quote(pathOf(words))}`)} -a ${word} -d ${quote(summary)}`,
    ),
  );
  const commands = TYPED.filter(({ path }) => !isGroup(pathOf(path))).flatMap((command) => {
    const at = `-n ${quote(`__millrace_at ${quote(pathOf(command.path))}`)}`;
    const flags = flagsOf(command).map(({ long, short, value, choices, complete, summary }) => {
      const takes =
        value === undefined
          ? ""
          : choices !== undefined
            ? ` -x -a ${quote(choices.join(" "))}`
            : complete === undefined
              ? " -r"
              : " -x -a '(__millrace_ask)'";
      return `complete -c millrace ${at} -l ${long}${short === undefined ? "" : ` -s ${short}`}${takes} -d ${quote(summary)}`;
    });
    const asks = command.args.some(({ complete }) => complete !== undefined);
    return asks ? [...flags, `complete -c millrace ${at} -f -a '(__millrace_ask)'`] : flags;
  });
  return `# Completion of millrace. In config.fish: millrace completion fish | source
function __millrace_ask
  set -l words (commandline -opc) (commandline -ct)
  millrace __complete -- $words[2..-1] 2>/dev/null
end
function __millrace_at
  set -l at
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    switch $next
      case ${paths().map(quote).join(" ")}
        set at $next
      case '*'
        break
    end
  end
  test "$at" = "$argv[1]"
end
${[...lines, ...commands].join("\n")}
`;
}
