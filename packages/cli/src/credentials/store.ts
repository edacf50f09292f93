/** The credential store of the configuration. Loaded by the commands that need one, and by a run when its flow does. */

import {
  type OpenedStore,
  openCredentialStore as openServerStore,
} from "@millrace/server/connections";
import type { CredentialsChoice } from "../config/sections.ts";
import { usage } from "../errors.ts";

/** Opens the store; nothing is read before its first use. Throws a usage error for an encrypted file without its key. */
export function openCredentialStore(choice: CredentialsChoice): OpenedStore {
  if (choice.store === "file" && choice.key === undefined) {
    throw usage(
      "credentials.store is file, and the file needs a key",
      "keep one in MILLRACE_CREDENTIAL_KEY, the same for every command: export MILLRACE_CREDENTIAL_KEY=$(openssl rand -base64 32)",
    );
  }
  return openServerStore(choice);
}
