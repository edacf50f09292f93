/** Inputs and outputs of a document, as text. */

import { isObject } from "../data.ts";
import { SLIP_TYPES, TYPE_NAMES, typeOf, typeText } from "../language/types.ts";
import { nameText } from "../syntax/print-expression.ts";
import { blockOf, Members } from "./members.ts";
import type { Part } from "./part.ts";

const SCHEMA =
  "type items properties additionalProperties enum format minimum maximum minLength maxLength pattern".split(
    " ",
  );
/** Members of an output beside its value. */
const DECLARED = new Set([...SCHEMA, "schema", "name", "id", "key", "title", "description"]);

/** The type that members of a JSON Schema say, and the field `schema` where no type says it. */
function typeIn(members: Members): { readonly type: string; readonly field: readonly string[] } {
  const whole = members.take("schema");
  const given = SCHEMA.flatMap((key) => {
    const part = members.take(key);
    return part === undefined ? [] : [[key, part] as const];
  });
  if (whole !== undefined) for (const [, part] of given) part.refuse("stands beside a schema");
  const [[first, said] = []] = given;
  if (whole === undefined && given.length === 0) return { type: "", field: [] };
  if (
    whole === undefined &&
    given.length === 1 &&
    first === "type" &&
    /^[\w.[\]?<>]+$/.test(said?.text ?? "")
  )
    return { type: `: ${said?.text}`, field: [] };
  const schema = whole?.data ?? Object.fromEntries(given.map(([key, { data }]) => [key, data]));
  const type = isObject(schema) ? typeOf(schema) : undefined;
  if (type !== undefined) return { type: `: ${typeText(type)}`, field: [] };
  return { type: "", field: [`schema = ${JSON.stringify(schema).replaceAll("${", "\\${")}`] };
}

/** Names of types in other languages that are as well usual values. */
const WORDS = new Set("json list map text unknown url".split(" "));
const NAMES = [...TYPE_NAMES, ...Object.keys(SLIP_TYPES).filter((name) => !WORDS.has(name))];
/** A type as a flow, a schema or another language names it; all other texts are values. */
const NAMED_TYPE = new RegExp(`^(?:${NAMES.join("|")})(?:\\[\\]|\\?)*$`, "i");
const PERHAPS_TYPE = new RegExp(
  `^(?:(?:${NAMES.join("|")})\\s*[<|[].*|(?:${[...WORDS].join("|")})\\b\\s*(?:[<|[?].*)?)$`,
  "i",
);

/** An input as a line or block. */
export function inputText(id: string, part: Part): string {
  const isName = typeof part.path.at(-1) === "number" && part.text === id;
  if (isName) return `input ${nameText(id)}`;
  if (NAMED_TYPE.test(part.text ?? "")) return `input ${nameText(id)}: ${part.text}`;
  if (PERHAPS_TYPE.test(part.text ?? ""))
    part.refuse("is a type or a value: write an object with `type` or `default`");
  if (!part.isObject) return `input ${nameText(id)} = ${part.code}`;
  const members = new Members(part);
  members.named(id, "name", "id", "key");
  const { type, field } = typeIn(members);
  const usual = members.take("default", "value");
  const needed = members.take("required");
  if (needed !== undefined && typeof needed.scalar !== "boolean")
    needed.refuse("is neither true nor false");
  const about = members.take("description", "title");
  members.refuseRest();
  const isOptional = needed?.scalar === false && usual === undefined;
  const value = usual?.code ?? (isOptional ? "null" : undefined);
  const mark = isOptional && type !== "" ? "?" : "";
  const lines = [...field, ...(about ? [`description = ${about.code}`] : [])];
  return `input ${nameText(id)}${type}${mark}${value === undefined ? "" : ` = ${value}`}${blockOf(lines)}`;
}

/** An output as a line or block. */
export function outputText(id: string, part: Part): string {
  const members = new Members(part);
  members.named(id, "name", "id", "key");
  const isValue =
    !part.isObject || !["value", "from", "expression"].some((key) => part.members.has(key));
  if (isValue && isDeclaration(part)) part.refuse("says no value: `value` is what it is read from");
  if (isValue) return `output ${nameText(id)} = ${pathIn(part)}`;
  const { type, field } = typeIn(members);
  const value = members.take("value", "from", "expression");
  const about = members.take("description", "title");
  members.refuseRest();
  const lines = [...field, ...(about ? [`description = ${about.code}`] : [])];
  return `output ${nameText(id)}${type} = ${value ? pathIn(value) : "null"}${blockOf(lines)}`;
}

/** Whether an object says what an output is, and not what it holds. */
function isDeclaration({ members, path }: Part): boolean {
  const keys = [...members.keys()];
  const isSaid = typeof path.at(-1) === "number" || members.has("type") || members.has("schema");
  return isSaid && keys.length > 0 && keys.every((key) => DECLARED.has(key));
}

/** The result of a flow is mostly read of a step: a string that is a path of names is one. */
export function pathIn(part: Part): string {
  return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(part.text ?? "") ? `${part.text}` : part.code;
}
