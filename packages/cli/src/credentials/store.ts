/** The credential store of the configuration. Loaded by the commands that need one, and by a run when its flow does. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type OpenedStore,
  openCredentialStore as openServerStore,
} from "@millrace/server/connections";
import { editConfig } from "../config/files.ts";
import type { Config } from "../config/load.ts";
import type { CredentialsChoice } from "../config/sections.ts";
import { usage } from "../errors.ts";

/** Opens the store; nothing is read, and no key is asked for, before its first use. */
export function openCredentialStore({ store, dir, key }: CredentialsChoice): OpenedStore {
  return openServerStore({ store, dir, key });
}

/** The file store of an installation that had no place for credentials. */
export interface ChosenFile {
  readonly config: Config;
  readonly key: string;
  /** The file that says so from now on; absent where it could not be written. */
  readonly file: string | undefined;
}

/**
 * The encrypted file, for a machine without a keyring where nothing says which store it is; the key is made, and the user's file says so
 * for all commands. Undefined where there is nothing to choose. Throws a usage error where connections were made: a session without a
 * bus, as of cron, would part a desktop from its keyring for good.
 */
export async function chooseFile(config: Config): Promise<ChosenFile | undefined> {
  const { credentials, sources } = config;
  if (credentials.isChosen) return undefined;
  const { hasCredentialService } = await import("@millrace/oauth/store/os");
  if (await hasCredentialService()) return undefined;
  if (await hasConnections(credentials.dir)) {
    const said = "no keyring is reachable here, and the connections of this folder may be in one";
    const how = "millrace config set credentials.store file --user chooses the encrypted file";
    throw usage(said, `start in the session of the desktop, or choose: ${how}`);
  }
  if (typeof credentials.key === "function") await credentials.key();
  const { userPath } = sources;
  const file = await editConfig(userPath, "credentials.store", "file").then(
    () => userPath,
    () => undefined, // as in a container whose configuration is given: it is chosen again at the next start
  );
  return {
    config: { ...config, credentials: { ...credentials, store: "file", isChosen: true } },
    key: credentials.keyPlace,
    file,
  };
}

async function hasConnections(dir: string): Promise<boolean> {
  if (!existsSync(join(dir, "millrace.db"))) return false;
  const { openStore } = await import("@millrace/store");
  const store = await openStore({ dir, readonly: true }).catch(() => undefined);
  if (store === undefined) return false; // the server says what is wrong with it, or brings it up to date
  try {
    return (await store.connections.list()).length > 0;
  } finally {
    await store.close();
  }
}
