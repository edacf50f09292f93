/** `millrace webhooks`: addresses that start a template. A token is shown once, when its webhook is made. */

import type { Webhook } from "@millrace/contracts";
import { itemsOf } from "../api/api.ts";
import { apiCommand, type CommandContext, listCommand, valuesOf, withApi } from "../api/command.ts";
import { arg, option, serverCommand } from "../argv/flags.ts";
import { type ArgSpec, type CliCommand, flagText, isOn } from "../argv/spec.ts";
import { readSecret, secretFromStdin } from "../ask.ts";
import { CliError, usage } from "../errors.ts";
import { factLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

const WEBHOOK: ArgSpec = arg("id", "the webhook", "webhook");

const list = listCommand(
  "webhooks list",
  "list addresses that start templates, without their tokens",
  {
    command: "list_webhooks",
    examples: [["webhooks list", "which templates can be called"]],
    headings: ["WEBHOOK", "TEMPLATE", "INPUT", "STATE", "CALLS"],
    row: (each) => [each.id, each.template, each.input, stateOf(each), signedOf(each)],
    none: "no webhook; millrace webhooks add --template SLUG --input NAME makes one",
  },
);

const add = apiCommand("webhooks add", "make an address that starts a template; it is shown once", {
  flags: [
    option("template", "<slug>", "what to run", { complete: "template" }),
    option("input", "<name>", "the input that gets { method, query, headers, body }"),
    option("header", "<name>", "a header to pass on, in lower case", { multiple: true }),
    { long: "signed", summary: "calls must be signed; asks for the key" },
    { long: "secret-stdin", summary: "calls must be signed; the key comes from stdin" },
  ],
  examples: [["webhooks add --template called --input call", "prints its address, this once"]],
  command: "create_webhook",
  write: true,
  request: async ({ input, io }) => {
    const [template, name] = [flagText(input, "template"), flagText(input, "input")];
    if (template === undefined || name === undefined) {
      throw usage("webhooks add needs --template SLUG and --input NAME");
    }
    const what = `key of the signatures of ${template}`;
    const secret = isOn(input, "secret-stdin")
      ? await secretFromStdin(io, what)
      : isOn(input, "signed")
        ? await readSecret(io, what)
        : undefined;
    return { template, input: name, headers: valuesOf(input, "header"), secret };
  },
  show: async ({ id, template, input, token }, all) => ({
    data: [id, `${await baseOf(all)}/hooks/${token}`],
    said: [
      `POST to this address starts ${template} with { method, query, headers, body } in ${input}; it is shown this once`,
      ...(await closedLines(all)),
    ],
  }),
});

const show = serverCommand("webhooks show", "show a webhook, without its token", {
  args: [WEBHOOK],
  examples: [["webhooks show whk_01", "and whether the server answers it"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const each = await webhookOf(input.args[0] ?? "", { input, io, api });
      const data = factLines([
        ["webhook", each.id],
        ["template", each.template],
        ["input", each.input],
        ["state", stateOf(each)],
        ["calls", signedOf(each)],
        ["headers", each.headers.join(" ")],
      ]);
      return { value: each, data, said: await closedLines({ input, io, api }) };
    }),
});

const remove = apiCommand("webhooks remove", "delete a webhook", {
  args: [WEBHOOK],
  examples: [["webhooks remove whk_01", "its address answers 404 from now on"]],
  command: "delete_webhook",
  write: true,
  request: ({ input }) => ({ webhookId: input.args[0] ?? "" }),
  show: (_, { input }) => ({ said: [`${clean(input.args[0] ?? "")} is deleted`] }),
});

export const commands: readonly CliCommand[] = [list, add, show, remove];

function stateOf({ enabled }: Webhook): string {
  return enabled ? "on" : "off";
}

function signedOf({ secret }: Webhook): string {
  return secret === true ? "signed" : "unsigned";
}

async function webhookOf(id: string, { api }: CommandContext): Promise<Webhook> {
  for await (const each of itemsOf((page) => api.invoke("list_webhooks", page))) {
    if (each.id === id) return each;
  }
  throw new CliError("unavailable", `there is no webhook "${clean(id)}"`, {
    hint: "millrace webhooks list shows what there is",
    problem: "not_found",
  });
}

/** Where the address begins: the server that was asked, or the one that will be started here. */
async function baseOf({ input, api }: CommandContext): Promise<string> {
  if (api.where === "embedded") return "http://127.0.0.1:6455";
  const { namedServer } = await import("../api/server-url.ts");
  return (namedServer(input, api.config) ?? "").replace(/\/+$/, "");
}

/** A server answers 404 for every webhook unless it was started for them. */
async function closedLines({ api }: CommandContext): Promise<string[]> {
  if (api.where === "embedded") {
    return ["it answers while a server runs here: millrace serve --webhooks"];
  }
  const { features } = await api.invoke("get_meta", {});
  return features.webhooks
    ? []
    : ["this server answers 404 there: webhooks are off; start it with millrace serve --webhooks"];
}
