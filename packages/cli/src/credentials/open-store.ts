/** The credential store of the configuration. Loaded by the commands that need one, and by a run when its flow does. */
import { type OpenedStore, openCredentialStore } from "@millrace/server/connections";
import type { CredentialsChoice } from "../config/credentials.ts";
import { CliError, fileStoreHint, usage } from "../errors.ts";

/** Opens the store; nothing is read before its first use. Throws a usage error for an encrypted file without its key. */
export function openStore(choice: CredentialsChoice): OpenedStore {
  if (choice.store === "file" && choice.key === undefined) {
    throw usage(
      "credentials.store is file, and the file needs a key",
      "keep one in MILLRACE_CREDENTIAL_KEY, the same for every command: export MILLRACE_CREDENTIAL_KEY=$(openssl rand -base64 32)",
    );
  }
  return openCredentialStore(choice);
}

/** What a store says is wrong, and what helps, as the end of a command; anything else as it is. Nothing of an entry is in it. */
export function failureOfStore(error: unknown): unknown {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (error instanceof CliError || code !== "oauth_credential") return error;
  const { message } = error as Error;
  const hint = fileStoreHint(message);
  return new CliError("unavailable", message, {
    problem: "credential_store_unavailable",
    ...(hint !== undefined && { hint }),
  });
}
