/** `millrace store move`: the store of this installation becomes one that several servers share. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ComparedTable, MoveReport } from "@millrace/store-postgres";
import { toCliError } from "../api/errors.ts";
import { command, option, printAnswer } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { dataFolder } from "../config/files.ts";
import { secretIn } from "../config/values.ts";
import { CliError, endedBy, reason, unusable, usage } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

export const commands: readonly CliCommand[] = [
  command("store move", "copy the store into an empty one in PostgreSQL and compare both", {
    flags: [
      option("to", "<url>", "postgres://…, or env:NAME where the variable has a password in it"),
      option("key-file", "<file>", "key of the new store; else MILLRACE_STORE_KEY"),
      { long: "check", summary: "only compare" },
    ],
    examples: [
      ["store move --to env:MILLRACE_STORE_URL", "again after an abort: it goes on where it ended"],
      ["store move --to env:MILLRACE_STORE_URL --check", "ends with 1 when a row is not the same"],
    ],
    run,
  }),
];

const STORE_FILE = "millrace.db";
const SHOWN_DIGITS = 16; // of 64: enough to see that two are not the same

/** Moves, or compares. Ends with 0 only when all rows are the same in both stores. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const url = targetOf(input, io);
  const { moveStore, parseStoreKey } = await loadPackage();
  const dir = dataFolder(flagText(input, "home"), io);
  if (!existsSync(join(dir, STORE_FILE))) {
    throw new CliError("unavailable", `there is no store in ${clean(dir)}`, {
      hint: "--home names another folder",
      problem: "not_found",
    });
  }
  let report: MoveReport;
  try {
    const key = parseStoreKey(keyText(input, io));
    const options = { check: isOn(input, "check"), signal: io.signal };
    report = await moveStore({ dir }, { url, key }, options);
  } catch (error) {
    throw endOf(error, io);
  }
  await printAnswer(await answerOf(report), io);
  return report.isEqual ? 0 : 1;
}

async function loadPackage(): Promise<typeof import("@millrace/store-postgres")> {
  try {
    return await import("@millrace/store-postgres");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError("unavailable", "the package @millrace/store-postgres is not installed", {
      hint: "npm install -g @millrace/store-postgres adds it",
    });
  }
}

/** The address of the new store. Neither it nor the name of its variable's value is in any message. */
function targetOf(input: Input, io: CommandIo): string {
  const text = flagText(input, "to");
  if (text === undefined) throw usage("store move needs --to, the address of the new store");
  const [, name] = /^env:(.+)$/.exec(text) ?? [];
  if (name !== undefined) {
    const value = secretIn(io, name) ?? "";
    if (value !== "") return value;
    throw usage(`the variable ${clean(name)} is not set`);
  }
  if (!hasPassword(text)) return text;
  const why = "every user of this machine can read the words of a command";
  throw usage(
    `--to takes no password, because ${why}`,
    "put the address in a variable: --to env:NAME",
  );
}

function hasPassword(text: string): boolean {
  try {
    const url = new URL(text);
    return url.password !== "" || url.searchParams.has("password");
  } catch {
    return false;
  }
}

function keyText(input: Input, io: CommandIo): string {
  const file = flagText(input, "key-file");
  if (file === undefined) {
    const text = secretIn(io, "MILLRACE_STORE_KEY") ?? "";
    if (text !== "") return text;
    throw usage(
      "the new store needs a key: --key-file, or the variable MILLRACE_STORE_KEY",
      "openssl rand -base64 32 makes one; all servers of the store need the same",
    );
  }
  const path = resolve(io.cwd, file);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(path, `cannot read ${clean(file)}: ${reason(error)}`);
  }
}

function endOf(error: unknown, io: CommandIo): unknown {
  if (io.signal.aborted) {
    return endedBy(io.signal, "; the same command goes on where it ended");
  }
  const { code, message } = error as Error & { readonly code?: unknown };
  if (error instanceof TypeError) return usage(clean(message));
  return code === "path_exists" ? usage(clean(message)) : toCliError(error);
}

async function answerOf({ tables, copied, isEqual }: MoveReport): Promise<Answer> {
  const wrong = tables.filter((each) => !each.isEqual).map(({ table }) => table);
  const headings = ["TABLE", "SOURCE", "TARGET", "SOURCE DIGEST", "TARGET DIGEST"];
  const end = isEqual
    ? "both stores are the same; start no server in the old folder again"
    : `not the same: ${wrong.join(", ")}`;
  return {
    value: { tables, copied, isEqual },
    data: await tableLines(headings, tables.map(rowOf)),
    said: [`${copied} ${copied === 1 ? "row" : "rows"} copied; ${end}`],
    mayBeQuiet: isEqual,
  };
}

function rowOf({ table, source, target }: ComparedTable): string[] {
  const digest = (text: string): string => text.slice(0, SHOWN_DIGITS);
  return [
    ...[table, String(source.rows), String(target.rows)],
    ...[digest(source.digest), digest(target.digest)],
  ];
}
