/** `millrace-hub.json`, the index of a hub, and the signature over its bytes. It is a stranger's file. */
import { createPublicKey, verify } from "node:crypto";
import type { HubIndex } from "@millrace/contracts";
import { hubIndexSchema } from "@millrace/contracts/schemas";
import { ProblemError } from "../errors.ts";
import { parseJson } from "../http/index.ts";

/** Bytes of an Ed25519 public key (RFC 8032, 5.1.5). */
const KEY_BYTES = 32;
/** Problems of an index told at once. */
const MAX_PROBLEMS = 20;

/** Reads an index. Throws `hub_rejected` with what is wrong. */
export function readIndex(bytes: Uint8Array): HubIndex {
  const read = hubIndexSchema.safeParse(parsed(bytes));
  if (read.success) return read.data;
  throw rejected("The index is not one of a hub", {
    errors: read.error.issues.slice(0, MAX_PROBLEMS).map(({ code, path, message }) => ({
      pointer: path.map((part) => `/${String(part)}`).join(""),
      code: code ?? "invalid",
      message,
    })),
  });
}

/** Throws `hub_rejected` unless `signature`, base64 of 64 bytes, is that of `bytes` under `publicKey`. */
export function checkSignature(bytes: Uint8Array, signature: Uint8Array, publicKey: string): void {
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

/** The refusal of what a hub holds. */
export function rejected(
  detail: string,
  options: ConstructorParameters<typeof ProblemError>[1] = {},
): ProblemError {
  return new ProblemError("hub_rejected", { detail, ...options });
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (cause) {
    if (!ProblemError.isInstance(cause)) throw cause;
    throw rejected("The index is not JSON that can be read", { cause });
  }
}
