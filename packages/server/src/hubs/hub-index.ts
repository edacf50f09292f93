/**
 * `millrace-hub.json`, the index of a hub, and the signature over its bytes. The file is untrusted input.
 *   Y1  The serial of a hub never falls, so that withdrawn items cannot come back.
 *   Y2  The index that is kept is that of the hub as it is kept: of its URL, and signed by its key when it has one.
 */
import { createPublicKey, verify } from "node:crypto";
import type { Hub, HubIndex } from "@millrace/contracts";
import { hubIndexSchema } from "@millrace/contracts/schemas";
import { inTurn } from "../dispatch/index.ts";
import { ProblemError, problemOfIssue } from "../errors.ts";
import { parseJson } from "../http/index.ts";
import type { ServerHost } from "../ports.ts";
import { readHubFile, rejected } from "./hub-source.ts";
import { knownHub } from "./stored-hubs.ts";

/** Bytes of an Ed25519 public key (RFC 8032, 5.1.5). */
const KEY_BYTES = 32;
const MAX_PROBLEMS = 20;

/** Reads an index. Throws `hub_rejected` with what is wrong. */
function readIndex(bytes: Uint8Array): HubIndex {
  const read = hubIndexSchema.safeParse(parsed(bytes));
  if (read.success) return read.data;
  throw rejected("The index is not one of a hub", {
    errors: read.error.issues.slice(0, MAX_PROBLEMS).map(problemOfIssue),
  });
}

/** Throws `hub_rejected` unless `signature`, base64 of 64 bytes, is that of `bytes` under `publicKey`. */
function checkSignature(bytes: Uint8Array, signature: Uint8Array, publicKey: string): void {
  const text = Buffer.from(signature).toString("latin1").trim();
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey, "base64").toString("base64url") },
    format: "jwk",
  });
  if (!verify(null, bytes, key, Buffer.from(text, "base64"))) {
    throw rejected("The signature of the index is not that of the hub's public key");
  }
}

/** Whether a text is an Ed25519 public key in base64. */
export function isPublicKey(text: string): boolean {
  return Buffer.from(text, "base64").length === KEY_BYTES;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (cause) {
    if (!ProblemError.isInstance(cause)) throw cause;
    throw rejected("The index is not JSON that can be read", { cause });
  }
}

const INDEX = "millrace-hub.json";
const MAX_INDEX_BYTES = 4_194_304; // ten thousand items of 400 bytes
const MAX_SIGNATURE_BYTES = 256; // base64 of 64 bytes, and room for line ends

/** Takes the index. Throws `not_found`, `state_conflict` for a hub that is off, `hub_rejected`, `upstream_…`. */
export async function syncHub(host: ServerHost, id: string): Promise<Hub> {
  const { hubs } = host.store;
  const hub = await knownHub(host, id);
  if (!hub.enabled) throw new ProblemError("state_conflict", { members: { state: "disabled" } });
  const read = (path: string, maxBytes: number) => readHubFile(hub, { path, maxBytes }, host);
  const bytes = await read(INDEX, MAX_INDEX_BYTES);
  if (hub.publicKey !== undefined) {
    const signature = await read(`${INDEX}.sig`, MAX_SIGNATURE_BYTES).catch(unsigned);
    checkSignature(bytes, signature, hub.publicKey);
  }
  const { serial, items } = readIndex(bytes);
  const synced = await inTurn(hubs, async () => {
    const now = await knownHub(host, id);
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
