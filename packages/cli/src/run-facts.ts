/** What commands on runs read of their words and of a run. */
import type { RunSummary } from "@millrace/contracts";
import type { Api } from "./api/api.ts";
import { itemsOf } from "./api/items.ts";
import { CliError, usage } from "./errors.ts";
import { clean } from "./render/text.ts";

/** An id that this program makes; no prefix of one. */
const WHOLE = /^run_[0-9A-HJKMNP-TV-Z]{26}$/;
/** Newest runs among which a prefix is looked for. */
const MAX_RUNS = 1_000;
/** Runs that a message lists. */
const MAX_LISTED = 5;

/** The id that a word means: itself, or the one run whose id begins with it. Throws a usage error where several do. */
export async function runIdOf(word: string, api: Api): Promise<string> {
  if (word === "" || WHOLE.test(word)) return word;
  const found: string[] = [];
  let seen = 0;
  for await (const { runId } of itemsOf((page) => api.invoke("list_runs", page))) {
    if (runId === word) return word;
    if (runId.startsWith(word)) found.push(runId);
    seen += 1;
    if (seen === MAX_RUNS) break;
  }
  const [first] = found;
  if (first === undefined || found.length === 1) return first ?? word; // an older run may have this very id
  const more = found.length > MAX_LISTED ? ", …" : "";
  throw usage(
    `${found.length} runs begin with ${clean(word)}: ${found.slice(0, MAX_LISTED).join(", ")}${more}`,
    "give more of the id",
  );
}

/** The newest run. Throws `unavailable` where there is none. */
export async function lastRun(api: Api): Promise<RunSummary> {
  const [last] = (await api.invoke("list_runs", { limit: 1 })).items;
  if (last !== undefined) return last;
  throw new CliError("unavailable", "there is no run yet", {
    hint: "a run is kept on a server, or with millrace run --save",
    problem: "not_found",
  });
}

/** `fx-rates@3` for a run of a template, else the id of its flow. */
export function flowOf({ template, flow }: RunSummary): string {
  return template === null ? flow.id : `${template.slug}@${template.version}`;
}
