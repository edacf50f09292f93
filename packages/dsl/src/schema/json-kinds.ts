/** JSON values as a schema sees them. */

/** The JSON Schema name of a value's type; what JSON has not is called by its JavaScript name. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isNaN(value) ? "NaN" : typeof value;
}

/** Whether a value has a JSON Schema type. */
export function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return typeof value === "number" && Number.isFinite(value);
  return typeName(value) === type;
}

/**
 * A text that two values share exactly when they are equal as JSON: key order does not count. `read` tells what members
 * and elements stand for; undefined when one of them is not known.
 */
export function equalityKey(
  value: unknown,
  read: (value: unknown) => unknown = (it) => it,
): string | undefined {
  if (typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value === 0 ? 0 : value) ?? "";
  }
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const key of isList ? value.keys() : Object.keys(value).sort()) {
    const inner = equalityKey(read((value as Record<string | number, unknown>)[key]), read);
    if (inner === undefined) return undefined;
    parts.push(isList ? inner : `${JSON.stringify(key)}:${inner}`);
  }
  return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
}
