/**
 * The entry: arguments and streams in, an exit code out. On every path `--json` output ends in a summary, and the exit code is
 * that of the summary.
 */

import type { Summary } from "@millrace/contracts";
import { parseArguments } from "./argv/parse.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "./argv/spec.ts";
import { NOUNS } from "./commands/index.ts";
import { CliError, interruptible, reason } from "./errors.ts";
import { type CliIo, createOutput } from "./output/io.ts";
import type { Ndjson } from "./output/ndjson.ts";
import { wantsColour } from "./output/style.ts";
import { clean } from "./output/text.ts";

/** Runs one command line (without `node` and the script). Text that stdout did not take is a fault of its own, whatever else is true. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  const out = createOutput(io.stdout);
  const err = createOutput(io.stderr);
  const code = await answer(argv, io, { out, err });
  if (out.failure === undefined) return code;
  const { ExitCode } = await import("@millrace/contracts");
  await err.write(
    `error: cannot write to stdout: ${reason(out.failure)}; its output is not complete\n`,
  );
  return ExitCode.output;
}

async function answer(
  argv: readonly string[],
  io: CliIo,
  { out, err }: Pick<CommandIo, "out" | "err">,
): Promise<number> {
  const columns = io.isTTY.stdout ? io.size("stdout").columns || undefined : undefined;
  const parsed = await parseArguments(argv, columns);
  if (parsed.kind === "help") {
    await out.write(parsed.text);
    return 0;
  }
  if (parsed.kind === "usage") {
    const wantsJson = argv.slice(0, indexOf(argv, "--")).includes("--json");
    const error = new CliError(
      "usage",
      parsed.message,
      parsed.hint === undefined ? {} : { hint: parsed.hint },
    );
    const json = await ndjsonTo(out, wantsJson);
    const code = await fail(error, { ...bare(io, out, err), json }, parsed.command);
    await json?.drained();
    return code;
  }
  const { command, input } = parsed;
  const json = await ndjsonTo(out, isOn(input, "json"));
  const commandIo: CommandIo = {
    ...bare(io, out, err),
    json,
    colour: json === undefined && wantsColour(flagText(input, "color"), io.env, io.isTTY.stderr),
    verbosity: verbosity(input, io),
    interactive:
      json === undefined &&
      io.isTTY.stdin &&
      io.isTTY.stderr &&
      !io.env.CI &&
      !isOn(input, "no-prompt"),
  };
  try {
    const code = await perform(command, input, commandIo);
    if (json === undefined || json.summary !== undefined || command.output !== "check") return code;
    const { soleSummary } = await import("./output/ndjson.ts");
    const summary = soleSummary("succeeded", io.now());
    await json.events([summary]);
    return summary.exitCode;
  } catch (error) {
    return await fail(error, commandIo, command);
  } finally {
    await json?.drained();
  }
}

/** Loaded when needed: help and most checks write no events. */
async function ndjsonTo(out: CommandIo["out"], wanted: boolean): Promise<Ndjson | undefined> {
  if (!wanted) return undefined;
  const { createNdjson } = await import("./output/ndjson.ts");
  return createNdjson(out);
}

/** A stream cancels its run on a signal and tells how it ended; any other command just ends. */
async function perform(command: CliCommand, input: Input, io: CommandIo): Promise<number> {
  const work = command.run(input, io, NOUNS);
  return command.output === "stream" ? work : interruptible(io.signal, work);
}

async function fail(
  error: unknown,
  io: CommandIo,
  command: CliCommand | undefined,
): Promise<number> {
  const known = await endOf(error);
  const { soleSummary } = await import("./output/ndjson.ts");
  const summary: Summary = soleSummary(known, io.now(), {
    cancelReason: known.code === "timeout" ? "timeout" : signalOf(io),
    after: io.json?.last,
  });
  if (io.json !== undefined && command?.output === "query") {
    await io.err.write(`${await problemLine(known)}\n`);
    return summary.exitCode;
  }
  if (io.json !== undefined && io.json.summary === undefined) await io.json.events([summary]);
  if (known.reported === "log") return summary.exitCode;
  if (!known.reported || io.json !== undefined) {
    const hint = known.hint === undefined ? "" : `; ${known.hint}`;
    const frame = io.json === undefined ? (known.frame ?? "") : "";
    await io.err.write(`error: ${clean(`${known.message}${hint}`)}\n${frame}`);
  }
  if (known.code === "internal") {
    await io.err.write(
      `this is a bug in millrace; a report needs this line: node ${process.version}, ${process.platform} ${process.arch}\n`,
    );
    if (io.verbosity === "verbose" && error instanceof Error)
      await io.err.write(`${error.stack}\n`);
  }
  return summary.exitCode;
}

/** The problem of a failed query for a program: one line, because a query writes only one line to stdout. */
async function problemLine({ problem, message, hint }: CliError): Promise<string> {
  const { problemDocument } = await import("@millrace/contracts");
  const detail = hint === undefined ? message : `${message}; ${hint}`;
  return JSON.stringify(problemDocument(problem, { requestId: "", detail }));
}

/** Place of a word, or the end. */
function indexOf(words: readonly string[], word: string): number {
  const at = words.indexOf(word);
  return at < 0 ? words.length : at;
}

/** Loaded for what failed: most commands never call anybody. */
async function endOf(error: unknown): Promise<CliError> {
  if (error instanceof CliError) return error;
  const { toCliError } = await import("./api/errors.ts");
  const end = toCliError(error);
  return end instanceof CliError ? end : internal(end);
}

function internal(error: unknown): CliError {
  return new CliError("internal", error instanceof Error ? error.message : String(error));
}

function signalOf(io: CommandIo): "sigint" | "sigterm" {
  return io.signal.reason === "sigterm" ? "sigterm" : "sigint";
}

function bare(io: CliIo, out: CommandIo["out"], err: CommandIo["err"]): CommandIo {
  return {
    ...io,
    out,
    err,
    json: undefined,
    colour: false,
    verbosity: "normal",
    interactive: false,
  };
}

function verbosity(input: Input, io: CliIo): CommandIo["verbosity"] {
  if (isOn(input, "quiet")) return "quiet";
  return isOn(input, "verbose") || io.env.MILLRACE_DEBUG === "1" ? "verbose" : "normal";
}
