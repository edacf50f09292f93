/** The configuration as commands load it, where they would. */
import { type Config, loadConfig } from "../config/load.ts";
import { CliError } from "../errors.ts";
import type { Patient } from "./check.ts";

/** Undefined for a configuration that another check finds wrong. */
export async function usableConfig({ io, options }: Patient): Promise<Config | undefined> {
  try {
    return await loadConfig(options, io, () => {});
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}
