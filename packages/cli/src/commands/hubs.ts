/**
 * `millrace hubs`: sources of templates and models. What is installed is checked against the digest that was shown before.
 *   H1  Nothing is installed before a person, or `--yes`, has agreed to its digest.
 */

import type { Hub, HubItem, HubProvides } from "@millrace/contracts";
import { itemsOf } from "../api/api.ts";
import {
  apiCommand,
  type CommandContext,
  listCommand,
  listed,
  pageOf,
  valuesOf,
} from "../api/command.ts";
import { proposedLines } from "../api/proposed-schedules.ts";
import { arg, option, PAGE_FLAGS } from "../argv/flags.ts";
import { type ArgSpec, type CliCommand, firstArg, flagText, isOn } from "../argv/spec.ts";
import { askYes } from "../ask.ts";
import { CliError, usage } from "../errors.ts";
import { factLines, formatBytes } from "../output/table.ts";
import { clean, formatTime } from "../output/text.ts";

const HUB: ArgSpec = arg("hub", "the hub", "hub");

/** Default kinds of a hub: node packs run code, so the operator must name them. */
const PROVIDES: readonly HubProvides[] = ["templates", "models"];

const list = listCommand("hubs list", "list sources of templates and models", {
  command: "list_hubs",
  examples: [["hubs list", "and when each was synced"]],
  headings: ["HUB", "STATE", "PROVIDES", "SYNCED", "URL"],
  row: (hub) => [
    hub.id,
    hub.enabled ? "on" : "off",
    hub.provides.join(" "),
    formatTime(hub.syncedAt),
    hub.url,
  ],
  none: "no hub; millrace hubs add URL adds one",
});

/** Adds a hub; nothing is fetched yet. */
const add = apiCommand("hubs add", "add a hub by its https address", {
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
  command: "add_hub",
  write: true,
  request: ({ input }) => {
    const url = input.args[0] ?? "";
    const id = flagText(input, "id") ?? idOf(url);
    return {
      id,
      name: flagText(input, "name") ?? id,
      url,
      provides: (valuesOf(input, "provides") as readonly HubProvides[] | undefined) ?? PROVIDES,
      publicKey: flagText(input, "public-key"),
    };
  },
  show: ({ id }) => ({ data: [id], said: [`millrace hubs sync ${id} fetches what it offers`] }),
});

const remove = apiCommand("hubs remove", "forget a hub; what was installed from it stays", {
  args: [HUB],
  examples: [["hubs remove acme", "its index is forgotten too"]],
  command: "remove_hub",
  write: true,
  request: ({ input }) => ({ hubId: firstArg(input), ifMatch: "*" }),
  show: (_, { input }) => ({ said: [`${clean(firstArg(input))} is forgotten`] }),
});

const sync = apiCommand("hubs sync", "fetch the index of a hub, and nothing else", {
  args: [HUB],
  examples: [["hubs sync acme", "what it offers now"]],
  command: "sync_hub",
  write: true,
  request: ({ input }) => ({ hubId: firstArg(input) }),
  show: (hub: Hub) => ({
    said: [`${hub.id} is at ${hub.serial ?? "-"}, synced ${formatTime(hub.syncedAt)}`],
  }),
});

const items = apiCommand("hubs items", "list what a hub offers", {
  args: [HUB],
  flags: PAGE_FLAGS,
  examples: [["hubs items acme", "as it was synced last"]],
  command: "list_hub_items",
  request: ({ input }) => ({ hubId: firstArg(input), ...pageOf(input) }),
  show: (page, context) => {
    const hub = firstArg(context.input);
    return listed(page, context, {
      headings: ["ITEM", "KIND", "VERSION", "SIZE", "TITLE"],
      row: ({ id, kind, version, bytes, title }) => [
        `${hub}/${id}`,
        kind,
        version,
        formatBytes(bytes),
        title,
      ],
      none: `nothing is known of it; millrace hubs sync ${clean(hub)} fetches its index`,
    });
  },
});

const install = apiCommand("hubs install", "install an item of a hub after its digest is shown", {
  args: [arg("item", "<hub>/<item>")],
  flags: [
    { long: "yes", summary: "do not ask" },
    option("slug", "<slug>", "its name here (default its id)"),
    { long: "overwrite", summary: "also where there is a template of that name" },
  ],
  examples: [["hubs install acme/hello", "asks before anything is fetched"]],
  command: "install_hub_item",
  write: true,
  request: async (all) => {
    const { input } = all;
    const [, hubId = "", itemId = ""] = /^(?:hub:)?([^/]+)\/(.+)$/.exec(input.args[0] ?? "") ?? [];
    if (itemId === "")
      throw usage("an item is named <hub>/<item>", "millrace hubs items HUB lists them");
    const item = await itemOf(hubId, itemId, all);
    if (item.kind === "model") {
      throw usage(
        `${itemId} is a model, which is fetched with its progress`,
        `millrace models install hub:${hubId}/${itemId}`,
      );
    }
    await agree(item, hubId, all);
    const overwrite = isOn(input, "overwrite");
    return {
      hubId,
      itemId,
      slug: flagText(input, "slug"),
      ...(overwrite && { overwrite, ifMatch: "*" }),
    };
  },
  show: async (installed, { api }) => {
    if (installed.kind === "model") {
      return { data: [installed.jobId], said: ["the model is on its way: millrace models list"] };
    }
    const { slug, version } = installed.template;
    return { said: [`${slug} is stored, version ${version}`, ...(await proposedLines(api, slug))] };
  },
});

export const commands: readonly CliCommand[] = [list, add, remove, sync, items, install];

/** `hub.example.com` as a slug. */
function idOf(url: string): string {
  if (!URL.canParse(url)) throw usage(`"${url}" is no URL`, "a hub has an https address");
  const words = new URL(url).hostname.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return words.slice(0, 64).replace(/^-|-$/g, "") || "hub";
}

async function itemOf(hubId: string, itemId: string, { api }: CommandContext): Promise<HubItem> {
  for await (const item of itemsOf((page) => api.invoke("list_hub_items", { hubId, ...page }))) {
    if (item.id === itemId) return item;
  }
  throw new CliError("unavailable", `the hub ${hubId} offers no "${itemId}"`, {
    hint: `millrace hubs sync ${hubId} fetches its index`,
    problem: "not_found",
  });
}

/** Shows what would be installed, and asks. */
async function agree(item: HubItem, hubId: string, { input, io }: CommandContext): Promise<void> {
  if (io.json === undefined) {
    const lines = factLines([
      ["item", `${hubId}/${item.id}`],
      ["kind", item.kind],
      ["title", item.title],
      ["version", item.version],
      ["size", formatBytes(item.bytes)],
      ["digest", item.digest],
    ]);
    await io.err.write(`${lines.join("\n")}\n`);
  }
  if (isOn(input, "yes")) return;
  if (!io.interactive) {
    throw new CliError(
      "confirmation_required",
      `nobody can be asked whether to install ${item.id}`,
      {
        hint: `look at its digest, ${item.digest}, then give --yes`,
      },
    );
  }
  if (await askYes(io, "install it?")) return;
  throw new CliError("confirmation_required", "nothing is installed");
}
