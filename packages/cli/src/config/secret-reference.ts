/** References to secrets in a configuration: `env:NAME`, `file:PATH` and `command:WORDS`. A secret is in no message. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { reason, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { secretIn } from "./values.ts";

/** How a reference is written. */
const REFERENCE_FORMS = "takes env:NAME, file:PATH or command:WORDS, because it is a secret";
const COMMAND_MS = 30_000; // a person may have to unlock something

/**
 * The secret that a reference leads to: of a variable or the file that `NAME_FILE` names, of a file, or what a program prints, which is
 * started without a shell. Throws a usage error that names the key.
 */
export async function secretOf(
  key: string,
  reference: unknown,
  { folder, io }: { readonly folder: string; readonly io: CliIo },
): Promise<string> {
  const [, kind, name = ""] = /^(env|file|command):(.+)$/.exec(String(reference)) ?? [];
  if (kind === undefined) throw usage(`${key} ${REFERENCE_FORMS}`);
  if (kind === "env") {
    const value = secretIn(io, name);
    if (value === undefined || value === "") throw usage(`${key}: the variable ${name} is not set`);
    return value;
  }
  const text = kind === "file" ? await readSecret(key, resolve(folder, name)) : undefined;
  const secret = (text ?? (await printed(key, name, { folder, io }))).trim();
  if (secret === "") throw usage(`${key}: ${kind}:${name} gives nothing`);
  return secret;
}

async function readSecret(key: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`${key}: cannot read ${path}: ${reason(error)}`);
  }
}

async function printed(
  key: string,
  words: string,
  { folder, io }: { readonly folder: string; readonly io: CliIo },
): Promise<string> {
  const { execFile } = await import("node:child_process");
  const [program = "", ...args] = words.split(/\s+/).filter((word) => word !== "");
  const options = { cwd: folder, env: { ...io.env }, timeout: COMMAND_MS, signal: io.signal };
  return new Promise((done, failed) => {
    execFile(program, args, options, (error, stdout) => {
      if (error === null) return done(stdout);
      // Not its message: that has what the program wrote to stderr.
      const why = error.killed ? "did not end in time" : `ended with ${error.code}`;
      failed(usage(`${key}: the command ${program} ${why}`));
    });
  });
}
