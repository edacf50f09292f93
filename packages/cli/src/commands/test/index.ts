/** `millrace test`: flows run in the world of their fixtures, and make the events that are kept beside them. */

import { createTwoFilesPatch } from "diff";
import { command, option } from "../../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../../argv/spec.ts";
import { configFlags } from "../../config/files.ts";
import { CliError, usage } from "../../errors.ts";
import { readIfThere, replaceFile } from "../../files.ts";
import { createStyle } from "../../output/style.ts";
import { clean } from "../../output/text.ts";
import { type FlowTest, findTests } from "./find.ts";
import { type Outcome, runTest } from "./run-test.ts";

export const commands: readonly CliCommand[] = [
  command("test", "run flows with their fixtures and compare the events they make", {
    args: [
      {
        name: "files",
        summary: "flows or folders (default the working directory)",
        variadic: true,
      },
    ],
    flags: [
      {
        long: "update",
        summary: "keep the events that are made now; a missing answer is never kept",
      },
      option("filter", "<regexp>", "only flows whose path matches"),
    ],
    output: "check",
    examples: [
      ["test examples", "everything offline, from recordings"],
      [
        "test examples --update",
        "answers: http.json, nodes.json, answers.ndjson, … of fixtures/NAME/",
      ],
    ],
    run,
  }),
];

/** How one test ended; a line of `--json`. */
interface Verdict {
  readonly file: string;
  readonly status: "passed" | "failed" | "updated";
  /** How the run ended, when it did not succeed: a test may be of a failure. */
  readonly run?: string;
  readonly problems?: readonly string[];
  readonly patch?: string;
}

/** Runs every test one after the other; ends with 1 when one fails. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const named = configFlags(input);
  const filter = pattern(flagText(input, "filter"));
  const names = input.args.length === 0 ? ["."] : input.args;
  const found = await findTests(names, named, io);
  const tests = found.filter(({ file }) => filter.test(file));
  if (tests.length === 0) throw usage(`no test matches ${filter.source}`);
  let failed = 0;
  for (const test of tests) {
    if (io.signal.aborted) break;
    const outcome = await runTest(test, named, io);
    const verdict = await judge(test, outcome, isOn(input, "update"));
    if (verdict.status === "failed") failed += 1;
    await printVerdict(verdict, io);
  }
  const count = `${tests.length} ${tests.length === 1 ? "test" : "tests"}`;
  if (failed > 0) {
    throw new CliError("check_failed", `${failed} of ${count} failed`, {
      hint: "millrace test --update keeps what they make now",
    });
  }
  if (io.json === undefined) await io.err.write(`${count} passed\n`);
  return 0;
}

async function judge(test: FlowTest, outcome: Outcome, update: boolean): Promise<Verdict> {
  const { file, golden, fixtures } = test;
  if ("problems" in outcome) return { file, status: "failed", problems: outcome.problems };
  const { text, failed } = outcome;
  const run = failed && { run: failed.says };
  if (update && failed?.lacks) {
    const where = fixtures ?? "its folder of fixtures";
    return { file, status: "failed", ...run, problems: [`nothing is kept: add it to ${where}`] };
  }
  const kept = await readIfThere(golden);
  if (kept === text) return { file, status: "passed", ...run };
  if (update) {
    await replaceFile(golden, text);
    return { file, status: "updated", ...run };
  }
  if (kept === undefined) {
    const problems = [`${golden} is missing; --update writes it`];
    return { file, status: "failed", ...run, problems };
  }
  const patch = createTwoFilesPatch(`${file} (kept)`, `${file} (made)`, kept, text);
  return { file, status: "failed", ...run, patch };
}

async function printVerdict(verdict: Verdict, io: CommandIo): Promise<void> {
  if (io.json !== undefined) {
    await io.json.result(verdict);
    return;
  }
  const { file, status, run, problems = [], patch } = verdict;
  const mark = createStyle(io.colour, io.env).symbol(status === "failed" ? "failed" : "succeeded");
  const note = status === "updated" ? " (updated)" : "";
  if (status === "failed" || io.verbosity !== "quiet") {
    await io.err.write(`${mark.paint(mark.text)} ${clean(file)}${note}\n`);
  }
  if (run !== undefined && (status !== "passed" || io.verbosity !== "quiet")) {
    await io.err.write(`  ${status === "failed" ? "" : "kept: "}${run}\n`);
  }
  for (const problem of problems) await io.err.write(`  ${clean(problem)}\n`);
  if (patch !== undefined) await io.out.write(patch.split("\n").map(clean).join("\n"));
}

function pattern(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? "");
  } catch {
    throw usage(`--filter takes a regular expression, found "${clean(text ?? "")}"`);
  }
}
