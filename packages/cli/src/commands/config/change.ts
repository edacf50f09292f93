/** `millrace config set` and `unset`: one key of a file. */

import { join } from "node:path";
import { arg, command, printAnswer } from "../../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../../argv/spec.ts";
import { meant } from "../../argv/suggest.ts";
import { explainConfig, keyOf } from "../../config/explain.ts";
import { configOptions, editConfig, PROJECT_FILE, readConfig } from "../../config/files.ts";
import { misfit } from "../../config/keys.ts";
import { ALL_KEYS } from "../../config/limit-keys.ts";
import { nextTrust } from "../../config/trust.ts";
import { isSecretKey, isSecretValue, toValue, valueAt } from "../../config/values.ts";
import { CliError, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";

const PLACE_FLAGS = [
  { long: "user", summary: "in the user's file" },
  { long: "project", summary: "in the project file (default where there is one)" },
];

export const set: CliCommand = command(
  "config set",
  "write a key into the project file, else into the user's",
  {
    args: [
      arg("key", "such as run.timeoutMs", "config-key"),
      {
        name: "value",
        summary: "text as it is, anything else as JSON",
        required: true,
        mayBeEmpty: true,
      },
    ],
    flags: PLACE_FLAGS,
    examples: [["config set run.timeoutMs 60000 --user", "for every project"]],
    async run(input, io) {
      const [name = "", word = ""] = input.args;
      const key = await knownKey(name);
      const known = keyOf(key);
      const value = key === known?.key ? toFileValue(known, word, io) : member(word);
      if (isSecretKey(key) || isSecretValue(value)) {
        throw usage(
          `${key} would keep a secret in a file`,
          "millrace secrets set ai:<name> stores one; here it is named, such as env:OPENAI_API_KEY",
        );
      }
      const why = known !== undefined && key === known.key ? misfit(known, value) : undefined;
      if (why !== undefined) throw usage(`${key} ${why}, found "${clean(word)}"`);
      const { checkSection } = await import("../../config/sections.ts");
      await checkSection(key, value);
      return change(input, io, key, value);
    },
  },
);

export const unset: CliCommand = command("config unset", "take a key out of a file", {
  args: [arg("key", "such as run.timeoutMs", "config-key")],
  flags: PLACE_FLAGS,
  examples: [["config unset run.timeoutMs --user", "the default again"]],
  async run(input, io) {
    return change(input, io, await knownKey(input.args[0] ?? "", true), undefined);
  },
});

async function change(input: Input, io: CommandIo, key: string, value: unknown): Promise<number> {
  if (isOn(input, "user") && isOn(input, "project")) {
    throw usage("--user and --project cannot be used together");
  }
  const { userPath, user, project } = await explainConfig(configOptions(input, io), io);
  const inProject = isOn(input, "project") || (project !== undefined && !isOn(input, "user"));
  const file = inProject ? (project?.file.path ?? join(io.cwd, PROJECT_FILE)) : userPath;
  const before = inProject ? project?.file.values : user?.values;
  if (value === undefined && valueAt(before ?? {}, key) === undefined) {
    throw new CliError("unavailable", `${file} does not set ${key}`, { problem: "not_found" });
  }
  await editConfig(file, key, value);
  const answer = {
    value: { file, key, ...(value !== undefined && { value }) },
    said: [clean(file)],
  };
  await printAnswer(answer, io);
  const home = flagText(input, "home");
  const next = inProject ? await nextTrust(await readConfig(file), home, io) : undefined;
  if (next !== undefined && io.verbosity !== "quiet") await io.err.write(`next: ${next}\n`);
  return 0;
}

/** A folder stays as it is written: in a file it is taken from the file's own folder. */
function toFileValue(known: Parameters<typeof toValue>[0], word: string, io: CommandIo): unknown {
  return known.type === "path" ? word : toValue(known, word, io);
}

/** A member of a record: JSON where it is JSON, else text. */
function member(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** `any`: also a key that nothing knows, so that it can be taken out again. */
export async function knownKey(key: string, any = false): Promise<string> {
  const isGroup = ALL_KEYS.some((each) => each.key.startsWith(`${key}.`));
  if (any || isGroup || keyOf(key) !== undefined) return key;
  const keys = ALL_KEYS.map((each) => each.key);
  const hint = (await meant(key, keys)) ?? "millrace config list shows them";
  throw usage(`there is no key "${clean(key)}"`, hint);
}
