/**
 * `millrace confirm`: the answer to what a kept run asks. On a server the run goes on there; embedded it goes on here, to its
 * end or to its next question.
 */

import { ClientError } from "@millrace/client";
import type { Confirmation, Json } from "@millrace/contracts";
import { type Api, MAX_PAGE } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import { runIdOf } from "../api/runs.ts";
import { arg, option, say, serverCommand } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../argv/spec.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";
import { followApiRun } from "../run/api-run.ts";
import { readJson } from "../run/inputs.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("confirm", "answer what a kept run asks", {
    args: [
      arg("run", "id of the run", "run"),
      { name: "node", summary: "the step that asks, or the id of the confirmation" },
    ],
    flags: [
      { long: "approve", summary: "let the run go on" },
      { long: "reject", summary: "refuse" },
      option("value-json", "<file>", "the value of the answer as JSON; - for stdin"),
      option("comment", "<text>", "a word beside the answer"),
    ],
    examples: [["confirm run_01JD8Z6K7Q2M4N5P6R7S8T9V0W send --approve", "the run goes on"]],
    run,
  }),
];

const OUTCOMES = ["approved", "rejected", "expired", "cancelled"] as const;

/** Answers; embedded, the exit code is that of the run. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const [word = "", named] = input.args;
  const decision = decisionOf(input);
  const file = flagText(input, "value-json");
  const given = file === undefined ? undefined : await readJson(file, io);
  const comment = flagText(input, "comment");
  return withApi(input, io, true, async (api) => {
    const runId = await runIdOf(word, api);
    const asked = await find(runId, named, api, io);
    const value = given ?? (await typed(asked, decision, io));
    const { lastSeq } = await api.invoke("get_run", { runId });
    const answered = await api
      .invoke("resolve_confirmation", {
        runId,
        confirmationId: asked.id,
        decision,
        ...(value !== undefined && { value }),
        ...(comment !== undefined && { comment }),
      })
      .catch(async (error: unknown) => {
        throw isSettled(error) ? await settled(runId, asked.id, api) : error;
      });
    await io.json?.result(answered);
    await say(io, said(answered));
    return api.where === "remote" ? 0 : goOn(runId, lastSeq, input, api, io);
  });
}

/** The value of an approval with a schema, asked on the terminal where there is one. */
async function typed(
  { schema }: Confirmation,
  decision: "approve" | "reject",
  io: CommandIo,
): Promise<Json | undefined> {
  if (decision === "reject" || !io.interactive) return undefined;
  const { askFields } = await import("../ask.ts");
  return askFields(schema, io);
}

function decisionOf(input: Input): "approve" | "reject" {
  const approve = isOn(input, "approve");
  if (approve === isOn(input, "reject")) throw usage("give --approve or --reject");
  return approve ? "approve" : "reject";
}

/** The open question that the words mean. */
async function find(
  runId: string,
  named: string | undefined,
  api: Api,
  io: CommandIo,
): Promise<Confirmation> {
  // A run that asks for more at the same time is answered by id.
  const { items } = await api.invoke("list_confirmations", { runId, limit: MAX_PAGE });
  const open = named === undefined ? items : items.filter((each) => means(named, each));
  const [first] = open;
  if (first !== undefined && open.length === 1) return first;
  if (first === undefined) throw await settled(runId, named, api);
  const lines = open.map(({ id, node, prompt }) => `  ${id}  ${node}  ${prompt}`);
  if (io.json === undefined) await io.err.write(`${lines.map(clean).join("\n")}\n`);
  throw usage(
    `${open.length} confirmations are open: ${open.map(({ id, node }) => `${id} ${clean(node)}`).join(", ")}`,
    "name one of them",
  );
}

/** A node with or without the `[i]` and `~a` parts of its path, or the id of a confirmation. */
function means(named: string, { id, node }: Confirmation): boolean {
  return named === id || named === node || named === node.replace(/~\d+|\[\d+\]/g, "");
}

function isSettled(error: unknown): boolean {
  return (
    ClientError.isInstance(error) &&
    (error.code === "already_resolved" || error.code === "confirmation_expired")
  );
}

/** Why there is no question to answer: who answered it, and when; or that there never was one. */
async function settled(runId: string, named: string | undefined, api: Api): Promise<CliError> {
  const done: Confirmation[] = [];
  for (const status of OUTCOMES) {
    const { items } = await api.invoke("list_confirmations", { runId, status, limit: MAX_PAGE });
    done.push(...items.filter((each) => named === undefined || means(named, each)));
  }
  const last = done.at(-1);
  if (last === undefined) {
    const what = named === undefined ? "nothing" : `no confirmation "${named}"`;
    return new CliError("unavailable", clean(`the run ${runId} asks ${what}`), {
      problem: "not_found",
      hint: `millrace runs show ${runId} tells how it stands`,
    });
  }
  const when = await resolvedAt(runId, last.id, api);
  const code = last.status === "expired" ? "confirmation_expired" : "already_resolved";
  return new CliError("check_failed", `${said(last)}${when}`, { problem: code });
}

/** The log knows when. */
async function resolvedAt(runId: string, id: string, api: Api): Promise<string> {
  const kinds = ["confirm.resolved"] as const;
  for (let after = 0; ; ) {
    const page = await api.invoke("get_run_events", { runId, kinds, after, limit: MAX_PAGE });
    for (const event of page.items) {
      after = event.seq;
      const { kind, id: of } = event as { readonly kind: string; readonly id?: unknown };
      if (kind === "confirm.resolved" && of === id)
        return ` at ${new Date(event.ts).toISOString()}`;
    }
    if (page.nextCursor === null) return "";
  }
}

/** `k1 send: approved by api`. */
function said({ id, node, status, by }: Confirmation): string {
  return clean(`${id} ${node}: ${status}${by === undefined ? "" : ` by ${by}`}`);
}

/** The run lives in this process now, so it is followed. */
async function goOn(
  runId: string,
  known: number,
  input: Input,
  api: Api,
  io: CommandIo,
): Promise<number> {
  const graph = await api.invoke("get_run_graph", { runId });
  const silent = io.json !== undefined; // its one line is the answer
  const context = { input, api, io: { ...io, json: undefined } };
  return (await followApiRun(runId, context, { graph, past: known + 1, known, silent })).exitCode;
}
