/** The hidden `__complete`: one word a line that may stand where the last of the given ones begins. It never fails. */
import type { CliCommand, CommandIo, Completer, Input } from "../command.ts";
import { completerAt, flagsOf, TYPED, wordsAfter } from "../completion/words.ts";

/** Whoever presses a key waits no longer. */
const PATIENCE_MS = 200;

/** Prints the words; nothing where that would take too long. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const words = input.args.slice(0, -1);
  const last = input.args.at(-1) ?? "";
  const found = await inTime(wordsFor(words, last, io));
  const fitting = found.filter((word) => word.startsWith(last) && !/[\s\p{Cc}]/u.test(word));
  if (fitting.length > 0) await io.out.write(`${fitting.join("\n")}\n`);
  return 0;
}

async function wordsFor(
  words: readonly string[],
  last: string,
  io: CommandIo,
): Promise<readonly string[]> {
  const command = TYPED.find(({ path }) => path.every((word, at) => word === words[at]));
  if (command === undefined) return wordsAfter(words).map(({ word }) => word);
  const flags = flagsOf(command);
  const given = words.slice(command.path.length);
  const before = given.at(-1) ?? "";
  const flag = flags.find(
    ({ long, short, value }) =>
      value !== undefined && (before === `--${long}` || before === `-${short}`),
  );
  if (flag !== undefined) return flag.choices ?? valuesOf(flag.complete, io);
  if (last.startsWith("-")) return flags.map(({ long }) => `--${long}`);
  return valuesOf(completerAt(command, argumentsIn(given, command)), io);
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

async function valuesOf(kind: Completer | undefined, io: CommandIo): Promise<readonly string[]> {
  if (kind === undefined) return [];
  const { VALUES } = await import("../completion/dynamic.ts");
  // A store that cannot be read, or none: there is nothing to offer.
  return VALUES[kind](io).catch(() => []);
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
