/**
 * Arguments of a command: collected from a request, and checked by the command's schema.
 *   P1  Path, query, headers and body each give some; none may give another's.
 *   P2  What the schema takes is taken.
 *   P3  What it refuses costs little: a schema tells every problem there is, and a body of a million wrong elements would
 *       keep the server busy for seconds. So of a long list some elements are looked at first.
 * @see the server page, "The command registry"
 */
import type { CommandDef, HttpBinding, Problem } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { runInputProblems } from "@millrace/contracts/schemas";
import { invalidArg, MAX_ERRORS, ProblemError } from "../errors.ts";

/** The parts of a request that hold arguments. */
export interface RequestParts {
  /** By name of the hole, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
  header(name: string): string | undefined;
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
}

const INTEGER = /^-?\d{1,15}$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
/** `tag.team=fx` is the pair `team: "fx"` of the argument `tags`. */
const TAG_PREFIX = "tag.";

/** A command that has a route. */
export type BoundCommand = CommandDef & { readonly http: HttpBinding };

export function isBound(command: CommandDef): command is BoundCommand {
  return command.http !== undefined;
}

/** Collects arguments. Throws `invalid_args` for a repeated or unknown one; values are checked by the command's schema. */
export function bindArgs(command: BoundCommand, parts: RequestParts): unknown {
  const { http } = command;
  const args = new Map<string, unknown>();
  const errors: Problem[] = [];
  const add = (name: string, value: unknown) => {
    if (args.has(name)) errors.push(problemAt(name, "duplicate", "is given twice"));
    else args.set(name, value);
  };
  for (const [name, value] of Object.entries(parts.path)) {
    add(name, readValue(command, name, value));
  }
  bindQuery(command, parts.query, add, errors);
  for (const [header, name] of Object.entries(http.headers ?? {})) {
    const text = parts.header(header);
    if (text === undefined || text === "") continue;
    const value = readValue(command, name, text);
    // `EventSource` repeats its own position beside the one in its URL; only a different one is a mistake.
    if (args.get(name) === value) continue;
    if (args.has(name) && isPosition(command, name)) {
      throw new ProblemError("bad_cursor", {
        detail: `${header} and ${name} are different positions`,
      });
    }
    add(name, value);
  }
  const { body = "none" } = http;
  if (typeof body === "object") {
    if (parts.body !== undefined) add(body.arg, parts.body);
  } else if (body === "rest" && parts.body !== undefined) {
    if (!isObject(parts.body)) {
      throw invalidArg("", "the body must be a JSON object", "invalid_type");
    }
    for (const [name, value] of Object.entries(parts.body)) add(name, value);
  }
  if (errors.length > 0) {
    throw new ProblemError("invalid_args", { errors: errors.slice(0, MAX_ERRORS) });
  }
  return Object.fromEntries(args);
}

function bindQuery(
  command: CommandDef,
  query: string,
  add: (name: string, value: unknown) => void,
  errors: Problem[],
): void {
  if (query === "") return;
  const types = argTypes(command);
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  const tags: Record<string, string> = Object.create(null);
  for (const [name, values] of given) {
    const type = types.get(name);
    if (type === "array") add(name, values);
    else if (name.startsWith(TAG_PREFIX) && types.has("tags")) {
      tags[name.slice(TAG_PREFIX.length)] = values[0] as string;
      if (values.length > 1) errors.push(problemAt(name, "duplicate", "is given twice"));
    } else if (type === undefined) errors.push(problemAt(name, "unrecognized_key", "is not known"));
    else if (values.length > 1) errors.push(problemAt(name, "duplicate", "is given twice"));
    else add(name, readValue(command, name, values[0] as string));
  }
  if (Object.keys(tags).length > 0) add("tags", { ...tags });
}

/** Whether an argument is where a stream goes on. */
function isPosition(command: CommandDef, name: string): boolean {
  return command.stream?.resume === true && name === "after";
}

/** A text as the JSON type of its argument; one that does not fit stays a text, for the schema to refuse. */
function readValue(command: CommandDef, name: string, text: string): unknown {
  if (isPosition(command, name)) return parsePosition(text);
  const type = argTypes(command).get(name);
  if (type === "integer" || type === "number") return INTEGER.test(text) ? Number(text) : text;
  if (type === "boolean") return BOOLEANS.get(text) ?? text;
  return text;
}

function problemAt(name: string, code: string, message: string): Problem {
  return { pointer: pointerSegment(name), code, message };
}

/** Reads a position in decimal. Throws `bad_cursor` for anything but 0 to 2^53 - 1. */
function parsePosition(text: string): number {
  const position = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(position)) {
    throw new ProblemError("bad_cursor", {
      detail: "A position is a whole number from 0 to 2^53 - 1",
    });
  }
  return position;
}

const known = new WeakMap<CommandDef, ReadonlyMap<string, string>>();

/** Name to JSON type (`string`, `integer`, `boolean`, `array`…); "" where the schema leaves it open. */
function argTypes(command: CommandDef): ReadonlyMap<string, string> {
  let types = known.get(command);
  if (types === undefined) {
    const schema = command.args.toJSONSchema({ io: "input", unrepresentable: "any" });
    const properties = Object.entries(schema.properties ?? {});
    types = new Map(
      properties.map(([name, property]) => [
        name,
        typeof property === "object" && typeof property.type === "string" ? property.type : "",
      ]),
    );
    known.set(command, types);
  }
  return types;
}

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
