/** A check of this installation as data, and its context. */
import type { CommandIo } from "../../argv/spec.ts";
import type { ExplainedConfig } from "../../config/explain.ts";
import type { ConfigOptions } from "../../config/files.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import { CliError } from "../../errors.ts";

/** Result of a check. A failed one has a `fix`. */
export interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly says: string;
  readonly fix?: string;
}

/** What all checks of `millrace doctor` read, gathered once. */
export interface DoctorContext {
  readonly io: CommandIo;
  readonly options: ConfigOptions;
  /** The configuration, or why it cannot be read. */
  readonly sources: ExplainedConfig | Error;
  /** Data folder, absolute. */
  readonly data: string;
  /** `--live`: providers may be asked for their models. */
  readonly live: boolean;
  /** `--prune`: what is not used any more may be deleted. */
  readonly prune: boolean;
  /** The server that was named; "" is none. */
  readonly server: string;
}

/** One check; several findings where it looks at several things, none where there is nothing to look at. */
export interface Check {
  readonly name: string;
  look(context: DoctorContext): Promise<readonly Finding[]>;
}

/** Everything is in order. */
export function ok(says: string): readonly Finding[] {
  return [{ status: "ok", says }];
}

/** Something works less well than it could. */
export function warn(says: string, fix: string): readonly Finding[] {
  return [{ status: "warn", says, fix }];
}

/** Something does not work. */
export function fail(says: string, fix: string): readonly Finding[] {
  return [{ status: "fail", says, fix }];
}

/** Calls `look` once for a context, however many checks want its answer. */
export function once<T>(
  look: (context: DoctorContext) => Promise<T>,
): (context: DoctorContext) => Promise<T> {
  const answers = new WeakMap<DoctorContext, Promise<T>>();
  return (context) => {
    const answer = answers.get(context) ?? look(context);
    answers.set(context, answer);
    return answer;
  };
}

/** For `catch`: the end of a command as a value. */
export function orCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  throw error;
}

/** Undefined for a configuration that another check finds wrong. */
export async function usableConfig({ io, options }: DoctorContext): Promise<Config | undefined> {
  const config = await loadConfig(options, io, () => {}).catch(orCliError);
  return config instanceof CliError ? undefined : config;
}
