/** Commands on webhooks. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const WEBHOOK: ArgSpec = arg("id", "the webhook", "webhook");

type Webhooks = typeof import("../webhooks.ts");
const from = (name: keyof Webhooks) => (): ReturnType<CliCommand["load"]> =>
  import("../webhooks.ts").then((module) => ({ run: module[name] }));

export const WEBHOOK_COMMANDS: readonly CliCommand[] = [
  entry("webhooks list", "list addresses that start templates, without their tokens", {
    flags: PAGE_FLAGS,
    examples: [["webhooks list", "which templates can be called"]],
    load: from("list"),
  }),
  entry("webhooks add", "make an address that starts a template; it is shown once", {
    flags: [
      option("template", "<slug>", "what to run", { complete: "template" }),
      option("input", "<name>", "the input that gets { method, query, headers, body }"),
      option("header", "<name>", "a header to pass on, in lower case", { multiple: true }),
      { long: "signed", summary: "calls must be signed; asks for the key" },
      { long: "secret-stdin", summary: "calls must be signed; the key comes from stdin" },
    ],
    examples: [["webhooks add --template called --input call", "prints its address, this once"]],
    load: from("add"),
  }),
  entry("webhooks show", "show a webhook, without its token", {
    args: [WEBHOOK],
    examples: [["webhooks show whk_01", "and whether the server answers it"]],
    load: from("show"),
  }),
  entry("webhooks remove", "delete a webhook", {
    args: [WEBHOOK],
    examples: [["webhooks remove whk_01", "its address answers 404 from now on"]],
    load: from("remove"),
  }),
];
