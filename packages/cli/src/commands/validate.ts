/**
 * `millrace validate`: parse and check; no execution, no store, no code of extensions. A server that is named judges by the
 * nodes, services and extensions there.
 */

import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { proposedLine } from "../api/proposed-schedules.ts";
import { trustedServer } from "../api/server-url.ts";
import { option, serverCommand } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../argv/spec.ts";
import { configFlags, configOptions } from "../config/files.ts";
import { usage } from "../errors.ts";
import { expandFiles } from "../files.ts";
import { countFindings, invalidFlow, isValid, showFindings } from "../output/findings.ts";
import { createStyle } from "../output/style.ts";
import { clean } from "../output/text.ts";
import { checkedTypes } from "../run/core-catalog.ts";
import { type FlowSource, loadFlow, sorted } from "../run/load-flow.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("validate", "check flows without running anything", {
    args: [
      { name: "files", summary: "files or folders; - for stdin", required: true, variadic: true },
    ],
    flags: [
      { long: "strict", summary: "warnings count as errors" },
      { long: "fix", summary: "make every fix that is certain; stdin goes to stdout" },
      { long: "dry-run", summary: "with --fix: change nothing, print the difference" },
      option(
        "format",
        "<format>",
        "text (default); for other programs, on stdout: github annotations, or SARIF 2.1.0",
        { choices: ["text", "github", "sarif"] },
      ),
    ],
    output: "check",
    examples: [
      ["validate hello.flow", "say what is wrong, and where"],
      ["validate --fix hello.flow", "mend what can only be meant in one way"],
      ["validate --format sarif hello.flow", "a report for code scanning"],
    ],
    run,
  }),
];

/** Checks every file; ends with `flow_invalid` when one does not hold. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const strict = isOn(input, "strict");
  const format = reportFormat(input, io);
  const fix = isOn(input, "fix");
  if (isOn(input, "dry-run") && !fix) throw usage("--dry-run says what --fix would do; give both");
  if (fix && format !== undefined) throw usage("--fix and --format cannot be used together");
  const style = createStyle(io.colour, io.env);
  const all = [];
  const checked: FlowSource[] = [];
  let invalid = 0;
  const files = await expandFiles(input.args, io);
  const judge = (await serverOf(input, io)) ?? ((read: FlowSource) => compiled(read, io));
  for (const file of files) {
    if (io.signal.aborted) break;
    const found = await loadFlow(file, io, { ...configFlags(input), asText: fix });
    const judged = { read: found, diagnostics: await judge(found) };
    const fixed = fix
      ? await (await import("../run/fix-flow.ts")).fixFile(file, judged, judge, input, io)
      : undefined;
    const { read, diagnostics: findings } = fixed ?? judged;
    const source = { ...read, diagnostics: findings };
    const valid = isValid(source.diagnostics, strict);
    if (!valid) invalid += 1;
    all.push(...source.diagnostics);
    checked.push(source);
    if (io.json !== undefined) {
      const { name: file, diagnostics } = source;
      const proposed = source.graph.schedules ?? [];
      await io.json.result({
        file,
        valid,
        diagnostics,
        ...(fixed && { fixed: fixed.made }),
        ...(valid && proposed.length > 0 && { proposed }),
      });
      continue;
    }
    if (format === undefined) await showFindings(source.diagnostics, source, io);
    const mark = style.symbol(valid ? "succeeded" : "failed");
    if (io.verbosity === "quiet") continue;
    await io.err.write(
      `${mark.paint(mark.text)} ${clean(source.name)}: ${countFindings(source.diagnostics)}\n`,
    );
    for (const each of valid ? (source.graph.schedules ?? []) : []) {
      await io.err.write(`  ${proposedLine(each, source.name)}\n`);
    }
  }
  if (format !== undefined) {
    const { githubCommands, sarifDocument } = await import("../output/reports.ts");
    const report = format === "github" ? githubCommands : sarifDocument;
    await io.out.write(report(checked, io.cwd));
  }
  if (invalid === 0) return 0;
  const errors = all.filter(
    (each) => each.severity === "error" || (strict && each.severity === "warning"),
  );
  throw invalidFlow(errors, countFindings(all));
}

/** The form of the report on stdout; undefined: findings are shown to a person, or are lines of `--json`. */
function reportFormat(input: Input, io: CommandIo): "github" | "sarif" | undefined {
  const format = flagText(input, "format");
  if (format !== "github" && format !== "sarif") return undefined;
  if (io.json !== undefined) throw usage("--format and --json cannot be used together");
  return format;
}

/** Findings of compiling the flow here. The engine is loaded only for a flow without errors, where it may find more. */
async function compiled(read: FlowSource, io: CommandIo): Promise<readonly Diagnostic[]> {
  if (!isValid(read.diagnostics) || isDone(read)) return read.diagnostics;
  const { withCompileProblems } = await import("../run/compile.ts");
  return withCompileProblems(read, io);
}

const FEW_BODIES = 10; // far from every limit of the engine
const FEW_NODES = 1_000;

/** Whether compiling finds nothing more: no node calls a flow or has a check of its own, and no limit is near. */
function isDone({ diagnostics, graph, services, extensions }: FlowSource): boolean {
  if (diagnostics.length + services.length + extensions.length > 0) return false;
  const checked = checkedTypes();
  const bodies: Pick<FlowGraph, "nodes" | "edges">[] = [graph];
  for (const { nodes, edges } of bodies) {
    if (nodes.length > FEW_NODES || edges.length > FEW_NODES) return false;
    for (const { type, body } of nodes) {
      if (type === "subflow" || checked.has(type)) return false;
      if (body !== undefined) bodies.push(body);
    }
    if (bodies.length > FEW_BODIES) return false;
  }
  return true;
}

type Judge = (flow: FlowSource) => Promise<readonly Diagnostic[]>;

/** Findings of a server, where one is named. */
async function serverOf(input: Input, io: CommandIo): Promise<Judge | undefined> {
  if (!(flagText(input, "server") ?? (await trustedServer(configOptions(input, io), io))))
    return undefined;
  const { openApi } = await import("../api/open.ts");
  const api = await openApi(input, io);
  return async ({ text, graph }) => {
    const flow = text === undefined ? { graph } : { dsl: text };
    const report = await api.invoke("validate_flow", flow);
    return sorted(report.diagnostics);
  };
}
