/** The one rule of run requests that no schema says well: exactly one of three inputs. */
import type { CommandDef, Problem } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";

const INPUTS = ["graph", "template", "dsl"] as const;
const RUN_COMMANDS: ReadonlySet<string> = new Set(["run_flow", "start_run", "run_and_wait"]);

/** Throws `run_input_conflict` unless exactly one of `graph`, `template`, `dsl` is present; a null counts as present. */
export function checkRunInput(command: CommandDef, args: unknown): void {
  if (!RUN_COMMANDS.has(command.name) || typeof args !== "object" || args === null) return;
  const present = INPUTS.filter((name) => Object.hasOwn(args, name));
  if (present.length === 1) return;
  const [first, ...others] = present;
  const errors: Problem[] =
    first === undefined
      ? [{ pointer: "", code: "missing", message: `none of ${INPUTS.join(", ")} is present` }]
      : others.map((name) => ({
          pointer: `/${name}`,
          code: "conflict",
          message: `${first} is also present`,
        }));
  throw new ProblemError("run_input_conflict", { errors });
}
