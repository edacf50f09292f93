/** Flags of commands that run flows, and their values. */

import type { Answer, ConfirmHandler } from "@millrace/engine";
import { option } from "../argv/flags.ts";
import { type FlagSpec, flagList, flagText, type Input, isOn } from "../argv/spec.ts";
import { parseDuration, splitPair } from "../argv/values.ts";
import type { Config } from "../config/load.ts";
import { usage } from "../errors.ts";

/** Flags that answer confirmations beforehand. */
export const ANSWER_FLAGS: readonly FlagSpec[] = [
  {
    long: "confirm",
    value: "<node=answer>",
    multiple: true,
    summary: "answer a confirmation: approve or reject; * for all",
  },
  { long: "yes", summary: "approve every confirmation" },
];
/** How long steps may take to stop. */
export const GRACE_FLAG: FlagSpec = option(
  "grace",
  "<duration>",
  "how long steps may take to stop (default 10s)",
);
/** A file that gets every event as a line. */
export const EVENTS_FLAG: FlagSpec = option(
  "events",
  "<file>",
  "also write every event to this file",
);

const DEFAULT_GRACE_MS = 10_000; // long enough for a request to end, short enough for a person to wait
/** Flags that need the run to be in this process. */
const HERE_ONLY = ["save", "only", "watch", "fixtures", "env"] as const;

/** Of these, those whose run is not kept: whoever resumes it does the whole flow for real. */
const UNSAVED = ["only", "fixtures"] as const;

/** How long the run may take, from `--timeout`, else the configuration. */
export function timeoutOf(input: Input, config: Config): { timeoutMs?: number } {
  const text = flagText(input, "timeout");
  const timeoutMs = text === undefined ? config.run.timeoutMs : parseDuration(text, "--timeout");
  return timeoutMs === undefined ? {} : { timeoutMs };
}

/** How long steps may take to stop, from `--grace`, else the configuration. */
export function graceOf(input: Input, config: Config): number {
  const text = flagText(input, "grace");
  return text === undefined
    ? (config.run.graceMs ?? DEFAULT_GRACE_MS)
    : parseDuration(text, "--grace");
}

/** `--tag k=v`. */
export function tagsOf(input: Input): { tags?: Record<string, string> } {
  const words = flagList(input, "tag");
  return words.length === 0
    ? {}
    : { tags: Object.fromEntries(words.map((word) => splitPair(word, "--tag"))) };
}

/** Throws a usage error for flags that do not go together, here or there. */
export function checkPlace(input: Input, server: string | undefined): void {
  const given = HERE_ONLY.filter((flag) => isGiven(input, flag));
  if (server !== undefined && given[0] !== undefined) {
    throw usage(
      `--${given[0]} works on this machine alone, and a server is named`,
      'leave it out, or give --server ""',
    );
  }
  if (server === undefined && isOn(input, "detach")) {
    throw usage("--detach leaves a run to a server, and none is named", "give --server <url>");
  }
  const unsaved = UNSAVED.find((flag) => isGiven(input, flag));
  if (isOn(input, "save") && unsaved !== undefined) {
    throw usage(
      `--save and --${unsaved} do not go together: whoever resumes the run does the whole flow for real`,
    );
  }
}

/**
 * Whether the run is kept: `--save`, or the configuration says that every run is. `warn` is told of one that is not kept all
 * the same.
 */
export function isSaved(input: Input, { history }: Config, warn: (line: string) => void): boolean {
  if (isOn(input, "save")) return true;
  const part = UNSAVED.find((flag) => isGiven(input, flag));
  if (history && part !== undefined)
    warn(`this run is not kept: --${part} is not the whole flow for real`);
  return history && part === undefined;
}

function isGiven({ flags }: Input, name: string): boolean {
  const value = flags[name];
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** ` --server <url>`, as it must be said again. */
export function serverFlag(input: Input): string {
  const url = flagText(input, "server");
  return url === undefined || url === "" ? "" : ` --server ${url}`;
}

const DECISIONS: Record<string, "approve" | "reject"> = { approve: "approve", reject: "reject" };

/** Answers by node path, with or without its `[i]` and `~a` parts; undefined leaves the confirmation open. */
export function readAnswers(words: readonly string[], yes: boolean): ConfirmHandler {
  const answers = new Map<string, "approve" | "reject">();
  for (const word of words) {
    const [node, answer] = splitPair(word, "--confirm");
    const decision = Object.hasOwn(DECISIONS, answer) ? DECISIONS[answer] : undefined;
    if (decision === undefined)
      throw usage(`--confirm ${node} takes approve or reject, found "${answer}"`);
    answers.set(node, decision);
  }
  return ({ node }): Answer | undefined => {
    const bare = node.replace(/~\d+|\[\d+\]/g, "");
    const decision = answers.get(node) ?? answers.get(bare) ?? answers.get("*");
    if (decision !== undefined) return { decision, by: "cli --confirm" };
    return yes ? { decision: "approve", by: "cli --yes" } : undefined;
  };
}
