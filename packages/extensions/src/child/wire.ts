/** Values that JSON cannot say, as they cross between host and child: bytes, dates and errors of providers. */

/** One name that no provider uses by chance. */
const TAG = "$millrace";

/** A copy in JSON. Functions and what is undefined are left out. */
export function toWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { [TAG]: "bytes", data: base64(value) };
  if (value instanceof Date) return { [TAG]: "date", data: value.getTime() };
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { [TAG]: "error", data: errorData(value) };
  if (Array.isArray(value)) return value.map((one) => toWire(one) ?? null);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined && typeof inner !== "function")
      .map(([key, inner]) => [key, toWire(inner)]),
  );
}

/** The value that `toWire` was given. */
export function fromWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(fromWire);
  const { [TAG]: tag, data } = value as { readonly [TAG]?: unknown; readonly data?: unknown };
  if (tag === "bytes") return bytesOf(String(data));
  if (tag === "date") return new Date(Number(data));
  if (tag === "error") return Object.assign(new Error(), fromWire(data));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fromWire(inner)]));
}

/** The members of a provider's error that hosts read: never its stack, and no nested objects. */
function errorData(error: Error): { readonly [name: string]: unknown } {
  const { name, message } = error;
  const shown = ["statusCode", "isRetryable", "responseHeaders", "responseBody", "code", "reason"];
  const more = Object.entries(error).filter(([key]) => shown.includes(key));
  return { name, message, ...(toWire(Object.fromEntries(more)) as object) };
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
