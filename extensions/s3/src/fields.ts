/** Fields and members that several actions have. */
export const bucketField = {
  type: "string",
  description: "Name of the bucket.",
  "x-millrace": { sink: "url" },
} as const;

export const keyField = {
  type: "string",
  minLength: 1,
  description: "Key of the object, such as reports/2026/may.csv.",
  "x-millrace": { sink: "url" },
} as const;

export const pathField = {
  type: "string",
  description: "File below the root, relative, with /.",
  "x-millrace": { sink: "path" },
} as const;

/** What the storage says of an object. */
export const OBJECT = {
  key: { type: "string" },
  bytes: { type: "integer" },
  etag: { type: "string", description: "Tag of this content, without quotes." },
  modifiedAt: { type: "string", description: 'ISO 8601; "" where the storage does not say.' },
} as const;

/** A tag without the quotes in which headers and lists have it. */
export function plainTag(etag: string | null | undefined): string {
  return (etag ?? "").replace(/^(?:W\/)?"(.*)"$/, "$1");
}

/** A date of a header or a list, as ISO 8601. */
export function isoDate(date: string | null | undefined): string {
  const at = Date.parse(date ?? "");
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}
