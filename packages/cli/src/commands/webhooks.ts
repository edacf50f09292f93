/** `millrace webhooks`: addresses that start a template. A token is shown once, when its webhook is made. */

import type { Webhook } from "@millrace/contracts";
import { itemsOf } from "../api/api.ts";
import {
  apiCommand,
  type Given,
  given,
  listed,
  pageOf,
  type Run,
  tell,
  valuesOf,
  withApi,
} from "../api/command.ts";
import { flagText, isOn } from "../argv/spec.ts";
import { readSecret, secretFromStdin } from "../ask.ts";
import { CliError, usage } from "../errors.ts";
import { factLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

/** Webhooks, without their tokens. */
export const list: Run = apiCommand({
  command: "list_webhooks",
  args: ({ input }) => pageOf(input),
  show: (page, all) =>
    listed(page, all, {
      headings: ["WEBHOOK", "TEMPLATE", "INPUT", "STATE", "CALLS"],
      row: (each) => [each.id, each.template, each.input, stateOf(each), signedOf(each)],
      none: "no webhook; millrace webhooks add --template SLUG --input NAME makes one",
    }),
});

/** Makes a webhook and shows its address, the only time. */
export const add: Run = apiCommand({
  command: "create_webhook",
  write: true,
  args: async ({ input, io }) => {
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
    return { template, input: name, ...given({ headers: valuesOf(input, "header"), secret }) };
  },
  show: async ({ id, template, input, token }, all) => ({
    data: [id, `${await baseOf(all)}/hooks/${token}`],
    said: [
      `POST to this address starts ${template} with { method, query, headers, body } in ${input}; it is shown this once`,
      ...(await closedLines(all)),
    ],
  }),
});

/** One webhook. */
export const show: Run = (input, io) =>
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
    await tell(each, { data, said: await closedLines({ input, io, api }) }, io);
    return 0;
  });

/** Deletes a webhook; its address answers 404 from now on. */
export const remove: Run = apiCommand({
  command: "delete_webhook",
  write: true,
  args: ({ input }) => ({ webhookId: input.args[0] ?? "" }),
  show: (_, { input }) => ({ said: [`${clean(input.args[0] ?? "")} is deleted`] }),
});

function stateOf({ enabled }: Webhook): string {
  return enabled ? "on" : "off";
}

function signedOf({ secret }: Webhook): string {
  return secret === true ? "signed" : "unsigned";
}

async function webhookOf(id: string, { api }: Given): Promise<Webhook> {
  for await (const each of itemsOf((page) => api.invoke("list_webhooks", page))) {
    if (each.id === id) return each;
  }
  throw new CliError("unavailable", `there is no webhook "${clean(id)}"`, {
    hint: "millrace webhooks list shows what there is",
    problem: "not_found",
  });
}

/** Where the address begins: the server that was asked, or the one that will be started here. */
async function baseOf({ input, api }: Given): Promise<string> {
  if (api.where === "embedded") return "http://127.0.0.1:6455";
  const { namedServer } = await import("../api/server-url.ts");
  return (namedServer(input, api.config) ?? "").replace(/\/+$/, "");
}

/** A server answers 404 for every webhook unless it was started for them. */
async function closedLines({ api }: Given): Promise<string[]> {
  if (api.where === "embedded") {
    return ["it answers while a server runs here: millrace serve --webhooks"];
  }
  const { features } = await api.invoke("get_meta", {});
  return features.webhooks
    ? []
    : ["this server answers 404 there: webhooks are off; start it with millrace serve --webhooks"];
}
