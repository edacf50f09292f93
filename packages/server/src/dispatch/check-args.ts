/**
 * Arguments against the schema of their command.
 *   P1  What the schema takes is taken.
 *   P2  What it refuses costs little: a schema tells every problem there is, and a body of a million wrong elements would
 *       keep the server busy for seconds. So of a long list some elements are looked at first.
 */
import type { CommandDef } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { runInputProblems } from "@millrace/contracts/schemas";
import { MAX_ERRORS, ProblemError } from "../errors.ts";

/** Lists up to this length are looked at whole; parsing so many wrong elements takes milliseconds. */
const LONG_LIST = 256;
/** Elements of a longer one that are looked at first: where one in twenty is wrong, 2 of 1,000,000 such samples miss it. */
const SAMPLE = 256;

/** Sampled lists, each with the places that its elements came from. */
type Places = Map<unknown, readonly number[]>;

/** Checks arguments by the command's schema. Throws `invalid_args` with a pointer for each problem, and `run_input_conflict`. */
export function checkArgs(command: CommandDef, args: unknown): unknown {
  checkRunInput(command, args);
  const places: Places = new Map();
  const sample = thin(args, places);
  if (places.size > 0) check(command, sample, places);
  return check(command, args, places);
}

function check(command: CommandDef, value: unknown, places: Places): unknown {
  const result = command.args.safeParse(value);
  if (result.success) return result.data;
  throw new ProblemError("invalid_args", {
    errors: result.error.issues.slice(0, MAX_ERRORS).map((found) => ({
      pointer: pointerTo(found.path, value, places),
      code: found.code ?? "invalid",
      message: found.message,
    })),
  });
}

/**
 * The value with every long list cut to elements at random places, so that a client cannot hide wrong ones between them; the
 * value itself when it has none. No schema of a command says anything about a list but its length and its elements. The
 * depth of a body is limited, so recursion is safe.
 */
function thin(value: unknown, places: Places): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length <= LONG_LIST) return mapChanged(value, (child) => thin(child, places));
    const drawn = Array.from({ length: SAMPLE }, () => Math.floor(Math.random() * value.length));
    const chosen = [...new Set(drawn)].sort((a, b) => a - b);
    const sample = chosen.map((place) => thin(value[place], places));
    places.set(sample, chosen);
    return sample;
  }
  const entries = Object.entries(value);
  const thinned = mapChanged(entries, (entry) => {
    const child = thin(entry[1], places);
    return child === entry[1] ? entry : ([entry[0], child] as [string, unknown]);
  });
  return thinned === entries ? value : Object.fromEntries(thinned);
}

/** The same list when nothing in it changes. */
function mapChanged<T>(list: T[], change: (item: T) => T): T[] {
  const changed = list.map(change);
  return changed.some((item, i) => item !== list[i]) ? changed : list;
}

function pointerTo(path: readonly PropertyKey[], value: unknown, places: Places): string {
  let at = value;
  let pointer = "";
  for (const part of path) {
    const place = typeof part === "number" ? places.get(at)?.[part] : undefined;
    pointer += pointerSegment(String(place ?? part));
    at = (at as Record<PropertyKey, unknown> | null | undefined)?.[part];
  }
  return pointer;
}

const RUN_COMMANDS: ReadonlySet<string> = new Set(["run_flow", "start_run", "run_and_wait"]);

/** Before the schema, whose problems would hide this one. */
function checkRunInput(command: CommandDef, args: unknown): void {
  if (!RUN_COMMANDS.has(command.name) || typeof args !== "object" || args === null) return;
  const errors = runInputProblems(args);
  if (errors.length > 0) throw new ProblemError("run_input_conflict", { errors });
}
