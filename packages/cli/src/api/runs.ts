/** Runs as commands name and read them: ids and prefixes, the last one, and whole logs from the API or a file. */
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { type AnyEvent, EventParseError, parseEvent, type RunSummary } from "@millrace/contracts";
import { CliError, reason, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";
import { type Api, itemsOf, MAX_PAGE } from "./api.ts";

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

/** A log is held whole to be checked; one of a million events fits. */
const MAX_LOG_BYTES = 512 * 1024 * 1024;

/** The events of a run up to `until`, as far as there are any. */
export async function eventsOf(
  runId: string,
  api: Api,
  until: number = Number.POSITIVE_INFINITY,
): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for (let after = 0; ; ) {
    const page = await api.invoke("get_run_events", { runId, after, limit: MAX_PAGE });
    events.push(...page.items);
    after = page.items.at(-1)?.seq ?? after;
    if (page.nextCursor === null || page.items.length === 0 || after >= until) break;
  }
  return events.filter(({ seq }) => seq <= until);
}

/**
 * The events of a file, `-` for stdin. Throws a usage error for what cannot be read and for what is no log at all; a line that
 * is no event among others breaks I1, and ends with `check_failed`.
 */
export async function readLog(name: string, io: CliIo, until: number): Promise<AnyEvent[]> {
  const { createInterface } = process.getBuiltinModule("node:readline"); // most commands read no log
  const shown = name === "-" ? "stdin" : clean(name);
  const source = name === "-" ? io.stdin : createReadStream(resolve(io.cwd, name));
  const events: AnyEvent[] = [];
  let bytes = 0;
  let line = 0;
  try {
    // An error before the first read would be lost.
    await new Promise<void>((ready, failed) => {
      source.once("readable", ready).once("end", ready).once("error", failed);
    });
    for await (const text of createInterface({
      input: source,
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      line += 1;
      bytes += text.length + 1;
      if (bytes > MAX_LOG_BYTES) throw usage(`${shown} is longer than ${MAX_LOG_BYTES} bytes`);
      if (text === "") continue;
      const event = parseEvent(text);
      if (event.seq > until) break;
      events.push(event);
    }
  } catch (error) {
    if (EventParseError.isInstance(error)) throw noEvent(error, { shown, line, events });
    if (error instanceof CliError) throw error;
    throw usage(`cannot read ${shown}: ${reason(error)}`);
  } finally {
    if (name !== "-") source.destroy();
  }
  if (events.length === 0)
    throw usage(`${shown} holds no event`, "give what --json or --events wrote");
  return events;
}

function noEvent(
  { message }: EventParseError,
  at: { readonly shown: string; readonly line: number; readonly events: readonly AnyEvent[] },
): CliError {
  const last = at.events.at(-1);
  if (last === undefined) {
    return usage(`${at.shown} is no log: line ${at.line}: ${message}`, "give what --json wrote");
  }
  return broken("I1", last.seq + 1, `line ${at.line}: ${message}`);
}

/** The end of a command whose log breaks an invariant. */
export function broken(invariant: string, seq: number, message: string): CliError {
  return new CliError(
    "check_failed",
    `the log breaks ${invariant} at seq ${seq}: ${clean(message)}`,
  );
}
