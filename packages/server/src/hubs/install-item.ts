/**
 * Installing an item of a hub.
 *   I1  Nothing is written before length and digest of the content are those of the stored index.
 *   I2  What is there under the slug wins, unless the caller says that it goes and has seen it.
 */
import { createHash } from "node:crypto";
import type { HubItem, InstalledItem, ParsedArgs, Template } from "@millrace/contracts";
import { checkConditions, notWired } from "../dispatch/index.ts";
import { known, ProblemError } from "../errors.ts";
import { readText } from "../flows/read-flow.ts";
import { fromModels } from "../models/commands.ts";
import type { CommandCall, ServerHost } from "../ports.ts";
import { slugFrom, templateExists, writeTemplate } from "../templates/write-template.ts";
import { readHubFile, rejected } from "./hub-source.ts";
import { itemsOf, knownHub } from "./stored-hubs.ts";

/** A flow of 512 KiB has thousands of nodes. */
const MAX_TEMPLATE_BYTES = 524_288;

/**
 * Installs an item. Throws `not_found`, `state_conflict` for a hub that is off, `operator_required` for node packs,
 * `command_not_wired` for models where none are managed, `already_exists`, `precondition_required`, `etag_mismatch`, `hub_rejected`,
 * `digest_mismatch`, `flow_invalid`, `upstream_…`.
 */
export async function installItem(
  args: ParsedArgs<"install_hub_item">,
  { host, app }: CommandCall,
): Promise<InstalledItem> {
  const hub = await knownHub(host, args.hubId);
  const item = known(
    (await itemsOf(host, hub.id)).find(({ id }) => id === args.itemId),
    "hub item",
  );
  if (!hub.enabled) throw new ProblemError("state_conflict", { members: { state: "disabled" } });
  if (item.kind === "nodes") {
    throw new ProblemError("operator_required", {
      detail: "Node packs run code: the operator adds them with millrace ext add",
    });
  }
  if (item.kind === "model") return installModel(host, `hub:${hub.id}/${item.id}`);
  const slug = args.slug ?? slugFrom(item.id, "item");
  const check = (current: Template | null): void => {
    if (current !== null && !args.overwrite) throw templateExists(slug);
    checkConditions(current, args);
  };
  check(await host.store.templates.get(slug)); // before anything is fetched in vain
  const text = await contentOf(item, (maxBytes) =>
    readHubFile(hub, { path: item.path, maxBytes }, host),
  );
  const { kind: _kind, id, version, digest } = item;
  const { template } = await writeTemplate(host, slug, (current) => {
    check(current);
    return {
      flow: readText(text, { host, limits: app.limits }),
      source: { kind: "hub", hub: hub.id, item: id, version, digest },
      ...(current === null && { name: item.title }),
    };
  });
  return { kind: "template", template };
}

/** A model is a job of the manager, which checks length and digest by the same index. */
async function installModel(
  { models }: Pick<ServerHost, "models">,
  source: string,
): Promise<InstalledItem> {
  if (models === null) throw notWired("install_model");
  try {
    return { kind: "model", jobId: (await models.manager()).install({ source }).id };
  } catch (error) {
    throw fromModels(error);
  }
}

/** The text of an item. Throws `hub_rejected` for what is too large or no text, `digest_mismatch`. */
async function contentOf(
  { bytes, digest, path }: HubItem,
  read: (maxBytes: number) => Promise<Uint8Array>,
): Promise<string> {
  if (bytes > MAX_TEMPLATE_BYTES) {
    throw rejected(`${path} has ${bytes} bytes; the limit is ${MAX_TEMPLATE_BYTES}`);
  }
  const data = await read(MAX_TEMPLATE_BYTES);
  const hash = createHash("sha256").update(data).digest("hex");
  if (data.length !== bytes || `sha256:${hash}` !== digest) {
    throw new ProblemError("digest_mismatch", {
      detail: `${path} is not what the index of the hub says; sync the hub, then look at it again`,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch (cause) {
    throw rejected(`${path} is not UTF-8`, { cause });
  }
}
