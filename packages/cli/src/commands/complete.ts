/** The hidden `__complete`: one word a line that may stand where the last of the given ones begins. It never fails. */
import type { Asked } from "../argv/completion/dynamic.ts";
import { completerAt, flagsOf, wordsAfter } from "../argv/completion/scripts.ts";
import { command, flagsBefore } from "../argv/flags.ts";
import type { CliCommand, CommandIo, CommandTable, Completer, Input } from "../argv/spec.ts";

export const commands: readonly CliCommand[] = [
  command("__complete", "answer a completion script", {
    args: [{ name: "words", summary: "the words so far, the last one unfinished", variadic: true }],
    output: "text",
    examples: [],
    run,
  }),
];

/** Whoever presses a key waits no longer. */
const PATIENCE_MS = 400;

/** Prints the words; nothing where that would take too long. */
async function run(input: Input, io: CommandIo, table: CommandTable): Promise<number> {
  const words = input.args.slice(0, -1);
  const last = input.args.at(-1) ?? "";
  const found = await inTime(wordsFor(words, last, { io, table }));
  const fitting = found.filter((word) => word.startsWith(last) && !/[\s\p{Cc}]/u.test(word));
  if (fitting.length > 0) await io.out.write(`${fitting.join("\n")}\n`);
  return 0;
}

async function wordsFor(
  typed: readonly string[],
  last: string,
  { io, table }: { readonly io: CommandIo; readonly table: CommandTable },
): Promise<readonly string[]> {
  // bash splits `--home=x` into three.
  const given = typed.filter((word) => word !== "=");
  const home = homeIn(given, io);
  const ask = (kind: Completer | undefined) => valuesOf(kind, { home, io });
  const words = given.slice(flagsBefore(given));
  const [first] = words;
  const shown = table.filter(({ hidden }) => !hidden);
  if (first === undefined) return shown.map(({ name }) => name);
  const { commands = [] } = (await shown.find(({ name }) => name === first)?.load()) ?? {};
  const command = commands.find(({ path }) => path.every((word, at) => word === words[at]));
  if (command === undefined) return wordsAfter(words, commands).map(({ word }) => word);
  const flags = flagsOf(command);
  const after = words.slice(command.path.length);
  const before = after.at(-1) ?? "";
  const flag = flags.find(
    ({ long, short, value }) =>
      value !== undefined && (before === `--${long}` || before === `-${short}`),
  );
  if (flag !== undefined) return flag.choices ?? ask(flag.complete);
  if (last.startsWith("-")) return flags.map(({ long }) => `--${long}`);
  return ask(completerAt(command, argumentsIn(after, command)));
}

/** The folder of `--home`, whose tilde a shell has left as it was typed. */
function homeIn(words: readonly string[], { env }: CommandIo): string | undefined {
  const at = words.findLastIndex((word) => /^--home(?:=|$)/.test(word));
  const [, inline] = /=(.*)/.exec(words[at] ?? "") ?? [];
  const home = inline ?? (at < 0 ? undefined : words[at + 1]);
  return home?.replace(/^~(?=\/|$)/, env.HOME ?? "~");
}

/** How many arguments the words hold, flags and their values apart. */
function argumentsIn(words: readonly string[], command: CliCommand): number {
  const takesValue = (word: string): boolean =>
    flagsOf(command).some(
      ({ long, short, value }) =>
        value !== undefined && (word === `--${long}` || word === `-${short}`),
    );
  return words.filter((word, at) => !word.startsWith("-") && !takesValue(words[at - 1] ?? ""))
    .length;
}

async function valuesOf(kind: Completer | undefined, asked: Asked): Promise<readonly string[]> {
  if (kind === undefined) return [];
  const { VALUES } = await import("../argv/completion/dynamic.ts");
  // A store that cannot be read, or none: there is nothing to offer.
  return VALUES[kind](asked).catch(() => []);
}

async function inTime(work: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
