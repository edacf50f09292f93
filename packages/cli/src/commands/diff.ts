/** `millrace diff`: what two flows do differently, or how their texts differ. */
import { printFlow } from "@millrace/dsl";
import { createTwoFilesPatch } from "diff";
import { type CommandIo, type Input, isOn } from "../command.ts";
import { type Difference, differencesOf } from "../diff/compare.ts";
import { CliError, usage } from "../errors.ts";
import { readableFlow } from "../readable-flow.ts";
import { createStyle, type Style } from "../render/style.ts";
import { clean } from "../render/text.ts";

/** Ends with exit code 1 when there is a difference. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const [a = "", b = ""] = input.args;
  if (a === "-" && b === "-") throw usage("only one thing can read stdin", "name - once");
  if (isOn(input, "text") && isOn(input, "semantic")) {
    throw usage("--text and --semantic cannot be used together");
  }
  const style = createStyle(io.colour, io.env);
  const before = await readableFlow(a, input, io);
  const after = await readableFlow(b, input, io);
  if (isOn(input, "text")) return textDiff();
  const differences = differencesOf(before.graph, after.graph);
  for (const each of differences) {
    if (io.json === undefined) await io.out.write(`${lineOf(each, style)}\n`);
    else await io.json.result(each);
  }
  return ended(differences.length);

  async function textDiff(): Promise<number> {
    const [one, other] = [before, after].map(({ text, graph }) => text ?? printFlow(graph));
    if (one === other) return 0;
    const patch = createTwoFilesPatch(before.name, after.name, one ?? "", other ?? "");
    if (io.json === undefined) await io.out.write(patch);
    else await io.json.result({ patch });
    return ended(1);
  }

  function ended(count: number): number {
    if (count === 0) return 0;
    throw new CliError("check_failed", "the flows are different", { told: true });
  }
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

/** `~ node fetch  fields.url: "a" → "b"`. */
function lineOf({ change, part, name, path, before, after }: Difference, style: Style): string {
  const paint = change === "added" ? style.good : change === "removed" ? style.bad : style.bold;
  const what = path === undefined ? "" : `  ${path}: ${shownValue(before)} → ${shownValue(after)}`;
  const mark = path === undefined ? MARKS[change] : MARKS.changed;
  return `${paint(mark)} ${part} ${clean(name)}${clean(what)}`;
}

/** An expression as its source, anything else as JSON. */
function shownValue(value: unknown): string {
  if (value === undefined) return "(none)";
  if (typeof value === "object" && value !== null && "$" in value) return String(value.$);
  return JSON.stringify(value);
}
