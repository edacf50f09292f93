/**
 * The credential store, tried in a child that can be killed: a store of the system may ask a person, or wait for ever. The
 * child writes, reads and deletes an entry that means nothing.
 */

import { spawn } from "node:child_process";
import { readCredentials } from "../config/sections.ts";
import { CliError } from "../errors.ts";
import { BIN } from "../self.ts";
import { type Check, type DoctorContext, fail, ok, warn } from "./check.ts";

const PATIENCE_MS = 3_000;
const OTHERS =
  "set credentials.store to file, and MILLRACE_CREDENTIAL_KEY to 32 random bytes in base64";

/** What a try said is wrong, "" for nothing, undefined when it did not end in time. */
type Told = string | undefined;

const tries = new WeakMap<DoctorContext, Promise<Told>>();

/** Whether the store was tried and did not answer: then nobody else may wait for it. */
export async function storeHangs(context: DoctorContext): Promise<boolean> {
  const told = tries.get(context);
  return told !== undefined && (await told) === undefined;
}

export const credentialStore: Check = {
  name: "credentials",
  async look(context) {
    const { sources, io, data } = context;
    if (sources instanceof Error) return [];
    const chosen = sources.value("credentials.store");
    const isChosen = sources.origins("credentials.store")[0]?.source !== "default";
    const bad = isChosen ? fail : warn;
    try {
      const { store, key } = readCredentials({ store: chosen }, undefined, io);
      if (store === "file" && key === undefined) {
        return fail(
          "the encrypted file has no key",
          "set MILLRACE_CREDENTIAL_KEY to 32 random bytes in base64",
        );
      }
      if (store === "memory") {
        return warn(
          "memory: what is stored ends with the process",
          "set credentials.store to os or file",
        );
      }
      const attempt = tryInChild([store, data], io);
      tries.set(context, attempt);
      const told = await attempt;
      if (told === undefined) {
        return fail(
          `the store "${store}" did not answer within ${PATIENCE_MS / 1_000} s`,
          `unlock it; or ${OTHERS}`,
        );
      }
      return told === ""
        ? ok(`${store}: written, read and deleted a probe`)
        : bad(`${store}: ${told}`, OTHERS);
    } catch (error) {
      if (error instanceof CliError) return fail(error.message, OTHERS);
      throw error;
    }
  },
};

function tryInChild(words: readonly string[], io: DoctorContext["io"]): Promise<Told> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, "__probe-credentials", ...words], {
      env: { ...io.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let told = "";
    let killed = false;
    const timer = setTimeout(() => {
      killed = true;
      child.kill("SIGKILL");
    }, PATIENCE_MS);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve(
        killed ? undefined : code === 0 ? "" : told.trim().replace(/^error: /, "") || "it failed",
      );
    });
  });
}
