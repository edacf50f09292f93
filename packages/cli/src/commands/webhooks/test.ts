/** `millrace webhooks test`: calls a webhook as its sender does, and shows the run that it starts. */
import type { Webhook } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { type CommandContext, pairsOf, withApi } from "../../api/command.ts";
import { printAnswer } from "../../argv/flags.ts";
import { flagText, type Run } from "../../argv/spec.ts";
import { CliError, usage } from "../../errors.ts";
import { readInput } from "../../files.ts";
import { clean } from "../../output/text.ts";
import { EXAMPLES, type ExampleName } from "./examples.ts";
import { closedLines, webhookOf } from "./find.ts";

/** Calls it, and follows the run to its end. The exit code is the run's. */
export const run: Run = (input, io) =>
  withApi(input, io, true, async (api) => {
    const context = { input, io, api };
    const call = await callOf(context);
    const given = ["example", "body"].flatMap((name) => {
      const value = flagText(input, name);
      return value === undefined ? [] : [`--${name} ${clean(value)}`];
    });
    const webhook = await webhookOf(context, ["webhooks test ID", ...given].join(" "));
    checkSender(webhook, flagText(input, "example"), call.headers);
    const args = { webhookId: webhook.id, ...call };
    const { runId, ...answer } = await api.invoke("test_webhook", args);
    if (answer.status >= 400 && runId === undefined) throw await refused(answer, webhook, context);
    const said = `the webhook answers ${answer.status}: ${clean(answer.body)}`;
    if (runId === undefined) {
      await printAnswer({ value: answer, said: [said, "no run was started"] }, io);
      return 0;
    }
    if (io.json === undefined) await printAnswer({ value: null, said: [said] }, io);
    const { followApiRun } = await import("../../run/api-run.ts");
    const graph = await api.invoke("get_run_graph", { runId });
    const silent = io.json !== undefined;
    const { exitCode } = await followApiRun(runId, context, { graph, silent, survives: true });
    if (silent) {
      const { summary } = await api.invoke("get_run", { runId });
      await printAnswer({ value: { ...answer, runId, summary } }, io);
    }
    return exitCode;
  });

async function callOf({ input, io }: CommandContext) {
  const [name, file] = [flagText(input, "example"), flagText(input, "body")];
  if (name !== undefined && file !== undefined) {
    throw usage("--example and --body are two ways to say what is sent", "give one of them");
  }
  const example = name === undefined ? undefined : EXAMPLES[name as ExampleName];
  const body =
    file === undefined
      ? JSON.stringify(example?.body ?? {})
      : Buffer.from(await readInput(file, io)).toString();
  const headers: Record<string, string> = { ...example?.headers, ...pairsOf(input, "header") };
  return { body, headers };
}

/**
 * Throws a usage error for what the sender of the webhook never sends: a call of another one, or one of GitHub without its event. The
 * server would take both, and a flow that looks at the event would do nothing.
 */
function checkSender(
  { secret, scheme = "millrace", template }: Webhook,
  example: string | undefined,
  headers: Readonly<Record<string, string>>,
): void {
  const sender = example?.split(":")[0] ?? scheme;
  if (sender !== scheme) {
    throw usage(
      `this webhook is ${secret === true ? `signed by ${scheme}` : "unsigned"}, not signed by ${sender}`,
      `make one with --scheme ${sender}: millrace webhooks add --template ${template} --scheme ${sender} --new-secret`,
    );
  }
  if (scheme === "github" && headers["x-github-event"] === undefined) {
    throw usage(
      "GitHub names the event in a header, which is missing",
      "give --header x-github-event=issues; the file of --body is what GitHub sends, not { method, headers, body }",
    );
  }
}

async function refused(
  { status, body }: { readonly status: number; readonly body: string },
  { id, enabled }: Webhook,
  context: CommandContext,
): Promise<CliError> {
  const problem: unknown = JSON.parse(body);
  const { title = "", detail } = isObject(problem) ? problem : {};
  const [hint = enabled ? undefined : `millrace webhooks resume ${id} lets it answer again`] =
    await closedLines(context);
  const said = clean(String(detail ?? title));
  return new CliError("unavailable", `the webhook answers ${status}: ${said}`, { hint });
}
