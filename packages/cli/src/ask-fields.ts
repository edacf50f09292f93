/** The value of an approval from the person at the keyboard: one question for each field of its schema. */
import { createInterface } from "node:readline";
import type { Json, JsonSchema } from "@millrace/contracts";
import type { CommandIo } from "./command.ts";
import { usage } from "./errors.ts";
import { interruptible } from "./interrupt.ts";
import { clean } from "./render/text.ts";

/** Asks for every field. Undefined: the schema names none, so there is nothing to ask. Enter leaves a field out that may be absent. */
export async function askFields(
  schema: JsonSchema,
  io: CommandIo,
): Promise<{ readonly [field: string]: Json } | undefined> {
  const { properties = {}, required = [] } = Object(schema) as {
    readonly properties?: { readonly [field: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  if (Object.keys(properties).length === 0) return undefined;
  const input = createInterface({ input: io.stdin, terminal: false });
  const lines = input[Symbol.asyncIterator]();
  const value: { [field: string]: Json } = {};
  try {
    for (const [field, of] of Object.entries(properties)) {
      const { type, enum: choices } = Object(of) as { type?: unknown; enum?: readonly unknown[] };
      const kind = choices?.join(", ") ?? String(type ?? "any value");
      const isRequired = required.includes(field);
      await io.err.write(clean(`${field} (${kind}${isRequired ? "" : ", optional"}): `));
      const { value: line = "" } = await interruptible(io.signal, lines.next());
      if (line !== "") value[field] = toField(field, line, type);
      else if (isRequired)
        throw usage(`${clean(field)} is needed`, "give it, or --value-json FILE");
    }
  } finally {
    input.close();
    io.stdin.pause();
  }
  return value;
}

/** Text as it is, any other type as JSON. */
function toField(field: string, text: string, type: unknown): Json {
  if (type === "string") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (type === undefined) return text;
    throw usage(`${clean(field)} takes ${String(type)}, written as JSON`);
  }
}
