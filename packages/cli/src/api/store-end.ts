/** Why a store did not open. */
import { StoreError } from "@millrace/store";
import { CliError, usage } from "../errors.ts";
import { clean } from "../render/text.ts";

/** The refusal of a store, or of an option, as the end of a command; anything else as it is. */
export function storeEnd(error: unknown): unknown {
  if (StoreError.isInstance(error)) {
    const problem = error.code === "store_read_only" ? "store_read_only" : "store_unavailable";
    return new CliError("unavailable", clean(error.message), { problem });
  }
  if (error instanceof Error && error.name === "ConfigError") return usage(clean(error.message));
  return error;
}
