/** A package as a tarball: which package it is, and its integrity. Nothing is unpacked. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { PACKAGE_NAME } from "@millrace/extensions";
import { usage } from "../errors.ts";
import { reason } from "../file-reason.ts";

const MAX_BYTES = 256 * 1_048_576; // unpacked; a package of more is none that anybody reviews
const BLOCK = 512;

/** Reads a `.tgz`. Throws a usage error for what is no package. */
export async function readTarball(
  path: string,
): Promise<{ readonly name: string; readonly integrity: string }> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw usage(`cannot read ${path}: ${reason(error)}`);
  });
  let tar: Buffer;
  try {
    tar = gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw usage(`${path} is no tarball of a package`);
  }
  const name = nameIn(tar);
  if (name === undefined || !PACKAGE_NAME.test(name)) {
    throw usage(`${path} holds no package.json with a name`);
  }
  return { name, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` };
}

/** The name in `<folder>/package.json`. @see POSIX pax, "ustar Interchange Format" */
function nameIn(tar: Buffer): string | undefined {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const path = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12).trim(), 8);
    if (path === "" || !Number.isSafeInteger(size)) return undefined;
    const body = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (/^[^/]+\/package\.json$/.test(path)) {
      try {
        const { name } = JSON.parse(body.toString("utf8")) as { readonly name?: unknown };
        return typeof name === "string" ? name : undefined;
      } catch {
        return undefined;
      }
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function text(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length).replace(/\0.*$/s, "");
}
