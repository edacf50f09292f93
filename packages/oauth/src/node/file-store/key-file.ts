/** The key of an encrypted file, in a file of its own: for machines where nobody gives one. */
import { randomBytes } from "node:crypto";
import { checkNames } from "../../options.ts";
import { credentialFailure } from "../credential-failure.ts";
import { readOrMake, readPrivate } from "./private-file.ts";

const KEY_BYTES = 32;

/**
 * The 32 bytes in the file at `path`, in base64. With `make` a file that is not there is made, mode 0600; else the answer is
 * undefined. Rejects with `OAuthError` of kind `Credential`: reason `unavailable` for a file that others may read or that cannot be
 * read, `decrypt` for one that has no key in it.
 */
export async function keyFile(options: {
  path: string;
  make: boolean;
}): Promise<Uint8Array | undefined> {
  checkNames("keyFile", options, ["path", "make"]);
  const { path, make } = options;
  const text = await (make
    ? readOrMake(path, () => `${randomBytes(KEY_BYTES).toString("base64")}\n`)
    : readPrivate(path));
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw credentialFailure(`${path} has no key in it`, "Put the key back from your copy of it.", {
    reason: "decrypt",
  });
}
