/** What commands on runs read of their words and of a run. */
import type { RunSummary } from "@millrace/contracts";
import type { Input } from "./command.ts";

/** The first argument, the id of a run. */
export function runOf(input: Input): string {
  return input.args[0] ?? "";
}

/** `fx-rates@3` for a run of a template, else the id of its flow. */
export function flowOf({ template, flow }: RunSummary): string {
  return template === null ? flow.id : `${template.slug}@${template.version}`;
}
