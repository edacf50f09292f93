/** JSON types of a command's arguments, as query values are read by them. */
import type { CommandDef } from "@millrace/contracts";

const known = new WeakMap<CommandDef, ReadonlyMap<string, string>>();

/** Name to JSON type (`string`, `integer`, `boolean`, `array`…); "" where the schema leaves it open. */
export function argTypes(command: CommandDef): ReadonlyMap<string, string> {
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
