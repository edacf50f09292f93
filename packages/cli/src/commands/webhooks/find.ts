/** Which webhook a person means, whether it can be called, and what it can be called with. */
import type { Webhook } from "@millrace/contracts";
import { itemsOf } from "../../api/api.ts";
import type { CommandContext } from "../../api/command.ts";
import type { ArgSpec } from "../../argv/spec.ts";
import { CliError, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";

export const WEBHOOK: ArgSpec = {
  name: "id",
  summary: "the webhook, or the template that it alone starts; nothing where there is one webhook",
  complete: "webhook",
};

/** The calls that `webhooks test` knows: their senders, and the events. */
export const EXAMPLE_NAMES = [
  "github:issues",
  "github:pull_request",
  "github:push",
  "github:ping",
  "stripe:payment_intent.succeeded",
  "slack:app_mention",
  "slack:message",
  "slack:url_verification",
  "microsoft-graph:created",
] as const;

/** The webhook of the first argument. Throws a usage error where several may be meant, with the command that names one. */
export async function webhookOf({ input, api }: CommandContext, command: string): Promise<Webhook> {
  const [word] = input.args;
  const all: Webhook[] = [];
  for await (const each of itemsOf((page) => api.invoke("list_webhooks", page))) {
    if (each.id === word) return each;
    if (word === undefined || each.template === word) all.push(each);
  }
  const [one, other] = all;
  if (one !== undefined && other === undefined) return one;
  if (other !== undefined) {
    throw usage(
      word === undefined ? "there are several webhooks" : `several webhooks start "${clean(word)}"`,
      `millrace webhooks list shows their ids; then: millrace ${command}`,
    );
  }
  throw word === undefined
    ? new CliError("unavailable", "there is no webhook yet", {
        hint: "millrace webhooks add --template SLUG makes one",
        problem: "not_found",
      })
    : new CliError("unavailable", `there is no webhook "${clean(word)}"`, {
        hint: "millrace webhooks list shows what there is",
        problem: "not_found",
      });
}

/** A server answers 404 for every webhook unless it was started for them. */
export async function closedLines({ api }: CommandContext): Promise<string[]> {
  if (api.where === "embedded") {
    return ["it answers while a server runs here: millrace serve --webhooks"];
  }
  const { features } = await api.invoke("get_meta", {});
  return features.webhooks
    ? []
    : ["this server answers 404 there: webhooks are off; start it with millrace serve --webhooks"];
}
