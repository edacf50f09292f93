/**
 * A short way for the values that are checked most: flat records of plain members. It says yes only where the checker finds
 * nothing; whatever it does not know it leaves to it.
 */
import type { SchemaNode } from "./compile.ts";

const STRING = 1;
const BOOLEAN = 2;
const NULL = 4;
const NUMBER = 8;
const INTEGER = 16;
const ANY = STRING | BOOLEAN | NULL | NUMBER | INTEGER;

const BITS: { readonly [type: string]: number } = {
  string: STRING,
  boolean: BOOLEAN,
  null: NULL,
  number: NUMBER,
  integer: INTEGER,
};

/** Rules of a record that `acceptor` knows. */
const KNOWN: ReadonlySet<string> = new Set([
  "types",
  "properties",
  "required",
  "additionalProperties",
]);

/** Whether a value surely fits `node`; null: the schema asks for more than the types of members. */
export function acceptor(node: SchemaNode): ((value: unknown) => boolean) | null {
  const isRecord = node.types?.length === 1 && node.types[0] === "object";
  if (!isRecord || !Object.keys(node).every((rule) => KNOWN.has(rule))) return null;
  const members = new Map([...(node.properties ?? [])].map(([name, part]) => [name, bitsOf(part)]));
  const others = node.additionalProperties === undefined ? ANY : bitsOf(node.additionalProperties);
  const required = node.required ?? [];
  const names = [...members.keys()];
  const bits = [...members.values()];
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const record = value as { readonly [name: string]: unknown };
    let at = 0; // a record has its members in the order of the schema, mostly
    for (const name in record) {
      const fits = names[at] === name ? (bits[at++] as number) : (members.get(name) ?? others);
      if ((bitOf(record[name]) & fits) === 0) return false;
    }
    for (let i = 0; i < required.length; i += 1) {
      const name = required[i] as string;
      if (!Object.hasOwn(record, name) || record[name] === undefined) return false;
    }
    return true;
  };
}

/** The types of a member that are decided by the type alone; 0: it has further rules, or never fits. */
function bitsOf(node: SchemaNode): number {
  const rules = Object.keys(node);
  if (rules.length === 0) return ANY;
  if (rules.length > 1 || node.types === undefined) return 0;
  return node.types.reduce((bits, type) => bits | (BITS[type] ?? 0), 0);
}

/** The types that a plain value has; 0: it is a list, a record, or nothing of JSON. */
function bitOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return STRING;
    case "boolean":
      return BOOLEAN;
    case "number":
      if (!Number.isFinite(value)) return 0;
      return Number.isInteger(value) ? NUMBER | INTEGER : NUMBER;
    default:
      return value === null ? NULL : 0;
  }
}
