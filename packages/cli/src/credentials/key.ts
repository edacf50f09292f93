/** The key of the encrypted credential file where none is configured: a file beside it, which is made with it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { keyFile } from "@millrace/oauth/store/file";
import { CliError } from "../errors.ts";

/** The key in `path`, made where there is none, unless the credentials in the folder were sealed with another one. */
export async function keyOfFolder(dir: string, path: string): Promise<Uint8Array> {
  const make = !existsSync(join(dir, "credentials.json"));
  const key = await keyFile({ path, make });
  if (key !== undefined) return key;
  throw new CliError(
    "unavailable",
    `give the key that it was made with: put it back into ${path}, set MILLRACE_CREDENTIAL_KEY, or let credentials.key name it`,
  );
}
