/** Commands on hubs. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const HUB: ArgSpec = arg("hub", "the hub", "hub");

type Hubs = typeof import("../hubs.ts");
const from = (name: keyof Hubs) => (): ReturnType<CliCommand["load"]> =>
  import("../hubs.ts").then((module) => ({ run: module[name] }));

export const HUB_COMMANDS: readonly CliCommand[] = [
  entry("hubs list", "list sources of templates and models", {
    flags: PAGE_FLAGS,
    examples: [["hubs list", "and when each was synced"]],
    load: from("list"),
  }),
  entry("hubs add", "add a hub by its https address", {
    args: [arg("url", "where its millrace-hub.json is")],
    flags: [
      option("id", "<slug>", "its name here (default from its address)"),
      option("name", "<text>", "what people call it"),
      option("provides", "<kind>", "what is taken from it (default templates and models)", {
        multiple: true,
        choices: ["templates", "nodes", "models"],
      }),
      option("public-key", "<base64>", "its index must be signed by this Ed25519 key"),
    ],
    examples: [["hubs add https://hub.example/flows --id acme", "nothing is fetched yet"]],
    load: from("add"),
  }),
  entry("hubs remove", "forget a hub; what was installed from it stays", {
    args: [HUB],
    examples: [["hubs remove acme", "its index is forgotten too"]],
    load: from("remove"),
  }),
  entry("hubs sync", "fetch the index of a hub, and nothing else", {
    args: [HUB],
    examples: [["hubs sync acme", "what it offers now"]],
    load: from("sync"),
  }),
  entry("hubs items", "list what a hub offers", {
    args: [HUB],
    flags: PAGE_FLAGS,
    examples: [["hubs items acme", "as it was synced last"]],
    load: from("items"),
  }),
  entry("hubs install", "install an item of a hub after its digest is shown", {
    args: [arg("item", "<hub>/<item>")],
    flags: [
      { long: "yes", summary: "do not ask" },
      option("slug", "<slug>", "its name here (default its id)"),
      { long: "overwrite", summary: "also where there is a template of that name" },
    ],
    examples: [["hubs install acme/hello", "asks before anything is fetched"]],
    load: from("install"),
  }),
];
