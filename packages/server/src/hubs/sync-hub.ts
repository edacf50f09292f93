/**
 * Taking the index of a hub. Nothing is installed by it.
 *   Y1  The serial of a hub never falls, so that nobody brings back what it has withdrawn.
 *   Y2  The index that is kept is that of the hub as it is kept: of its URL, and signed by its key when it has one.
 */
import type { Hub } from "@millrace/contracts";
import { inTurn } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";
import { checkSignature, readIndex, rejected } from "./hub-index.ts";
import { readHubFile } from "./hub-source.ts";
import { knownHub } from "./known-hub.ts";

const INDEX = "millrace-hub.json";
const MAX_INDEX_BYTES = 4_194_304; // ten thousand items of 400 bytes
const MAX_SIGNATURE_BYTES = 256; // base64 of 64 bytes, and room for line ends

/** Takes the index. Throws `not_found`, `state_conflict` for a hub that is off, `hub_rejected`, `upstream_…`. */
export async function syncHub(host: ServerHost, id: string): Promise<Hub> {
  const { hubs } = host.store;
  const hub = knownHub(host, id);
  if (!hub.enabled) throw new ProblemError("state_conflict", { members: { state: "disabled" } });
  const read = (path: string, maxBytes: number) => readHubFile(hub, { path, maxBytes }, host);
  const bytes = await read(INDEX, MAX_INDEX_BYTES);
  if (hub.publicKey !== undefined) {
    const signature = await read(`${INDEX}.sig`, MAX_SIGNATURE_BYTES).catch(unsigned);
    checkSignature(bytes, signature, hub.publicKey);
  }
  const { serial, items } = readIndex(bytes);
  const synced = await inTurn(hubs, async () => {
    const now = knownHub(host, id);
    if (now.url !== hub.url || now.publicKey !== hub.publicKey) return undefined;
    const syncedAt = new Date(host.now()).toISOString();
    if (await hubs.setIndex(id, { serial, items, syncedAt })) return knownHub(host, id);
    throw rejected(`The index has serial ${serial}; serial ${now.serial} was there before`);
  });
  return synced ?? syncHub(host, id); // it was changed meanwhile: that was the index of another one
}

/** A hub with a key that shows no signature is not believed; one that cannot be reached is another matter. */
function unsigned(cause: unknown): never {
  if (!ProblemError.isInstance(cause) || cause.code !== "upstream_failed") throw cause;
  throw rejected("The hub has a public key, and its index no signature that can be read", {
    cause,
  });
}
