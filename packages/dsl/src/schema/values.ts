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

/** A text that two values share exactly when they are equal as JSON: key order does not count. */
export function equalityKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(equalityKey).join()}]`;
  if (typeof value !== "object" || value === null)
    return JSON.stringify(value === 0 ? 0 : value) ?? "";
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${equalityKey((value as Record<string, unknown>)[key])}`);
  return `{${members.join()}}`;
}
