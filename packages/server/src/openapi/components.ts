/**
 * The schemas of commands as JSON Schema, with one definition for each shape that contracts export: `runSchema` is `Run`.
 * A shape that is taken otherwise than it is given, because of its defaults, has two: `FlowGraphInput` and `FlowGraph`.
 */
import type { CommandDef, JsonObject } from "@millrace/contracts";
import * as shapes from "@millrace/contracts/schemas";

/** A zod schema, as commands carry it. */
export type Schema = CommandDef["args"];
type Conversion = NonNullable<Parameters<Schema["toJSONSchema"]>[0]>;
type Io = "input" | "output";

/** Schemas in the document, and what they share. */
export interface Components {
  /** A schema as a caller sends it, or gets it; one that `createComponents` was given. */
  schemaOf(schema: Schema, io: Io): JsonObject;
  readonly definitions: { readonly [name: string]: JsonObject };
}

const names: ReadonlyMap<unknown, string> = new Map(
  Object.entries(shapes)
    .filter(([, shape]) => typeof shape === "object")
    .reverse() // of two names for one shape the first counts
    .map(([name, shape]) => {
      const plain = name.replace(/Schema$/, "");
      return [shape, `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`];
    }),
);

/** Zod asks it for the name of each schema. What a schema says of itself stays. */
const registry = {
  get(schema: Schema): object {
    const id = names.get(schema);
    return { ...schema.meta(), ...(id === undefined ? {} : { id }) };
  },
} as unknown as NonNullable<Conversion["metadata"]>;

const LOCAL = "#/$defs/";
const SHARED = "#/components/schemas/";

/** Converts schemas. Throws for one that JSON Schema cannot say. */
export function createComponents(
  given: {
    readonly [I in Io]: readonly Schema[];
  },
): Components {
  const input = convert(given.input, "input");
  const output = convert(given.output, "output");
  const twofold = differing(input.shared, output.shared);
  const resolve = (schema: JsonObject, io: Io): JsonObject =>
    replaceRefs(schema, (name) => (io === "input" && twofold.has(name) ? `${name}Input` : name));
  const definitions = new Map<string, JsonObject>();
  for (const [name, schema] of output.shared) definitions.set(name, resolve(schema, "output"));
  for (const [name, schema] of input.shared) {
    if (twofold.has(name)) definitions.set(`${name}Input`, resolve(schema, "input"));
    else if (!definitions.has(name)) definitions.set(name, resolve(schema, "input"));
  }
  return {
    schemaOf: (schema, io) =>
      resolve((io === "input" ? input : output).own.get(schema) as JsonObject, io),
    definitions: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

interface Converted {
  readonly own: ReadonlyMap<Schema, JsonObject>;
  readonly shared: ReadonlyMap<string, JsonObject>;
}

function convert(schemas: readonly Schema[], io: Io): Converted {
  const own = new Map<Schema, JsonObject>();
  const shared = new Map<string, JsonObject>();
  for (const schema of schemas) {
    const converted = schema.toJSONSchema({
      io,
      metadata: registry,
      unrepresentable: "throw",
    }) as JsonObject;
    const { $schema: _, $defs = {}, ...rest } = io === "output" ? open(converted) : converted;
    for (const [name, definition] of Object.entries($defs as { [name: string]: JsonObject })) {
      if (name.startsWith("__")) throw new Error("a recursive schema has no name");
      shared.set(name, definition);
    }
    own.set(schema, rest);
  }
  return { own, shared };
}

/** Answers may get further members: a document that closed them would call every addition a break. */
function open(schema: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === "additionalProperties" && value === false ? undefined : value,
    ),
  ) as JsonObject;
}

/** Names that mean something else as input than as output, by themselves or by what they refer to. */
function differing(
  input: ReadonlyMap<string, JsonObject>,
  output: ReadonlyMap<string, JsonObject>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const both = [...input]
    .filter(([name]) => output.has(name))
    .map(([name, schema]) => [name, JSON.stringify(schema), JSON.stringify(output.get(name))]);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const [name = "", taken = "", given] of both) {
      const refers = [...found].some((other) => taken.includes(`"${LOCAL}${other}"`));
      if (refers || taken !== given) found.add(name);
    }
  }
  return found;
}

function replaceRefs(schema: JsonObject, rename: (name: string) => string): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === "$ref" && typeof value === "string" && value.startsWith(LOCAL)
        ? SHARED + rename(value.slice(LOCAL.length))
        : value,
    ),
  ) as JsonObject;
}
