/** Commands on what a store keeps beside runs: templates, schedules, webhooks, hubs; on the catalog; and the one that calls any other. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { CliCommand } from "../../argv/spec.ts";
import { HUB_COMMANDS } from "./hubs.ts";
import { SCHEDULE_COMMANDS } from "./schedules.ts";
import { TEMPLATE_COMMANDS } from "./templates.ts";
import { WEBHOOK_COMMANDS } from "./webhooks.ts";

export const STORED_COMMANDS: readonly CliCommand[] = [
  ...TEMPLATE_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...HUB_COMMANDS,
  entry("catalog list", "list the node types that flows can use", {
    flags: [
      option("query", "<text>", "text in type, title or summary", { short: "q" }),
      option("category", "<category>", "of this category"),
      ...PAGE_FLAGS,
    ],
    examples: [["catalog list -q http", "those that have to do with HTTP"]],
    load: () => import("../catalog.ts").then(({ list }) => ({ run: list })),
  }),
  entry("catalog show", "show a node type with its fields and ports", {
    args: [arg("type", "such as http.request", "node-type")],
    examples: [["catalog show http.request", "every field, and what it takes"]],
    load: () => import("../catalog.ts").then(({ show }) => ({ run: show })),
  }),
  entry("invoke", "call any command of the API by its name", {
    args: [
      arg("name", "such as get_meta; list_commands tells them all", "command"),
      { name: "args", summary: "its arguments as JSON; - for stdin (default {})" },
    ],
    examples: [["invoke get_meta", "versions, limits and features"]],
    load: () => import("../invoke.ts"),
  }),
];
