/** Slugs of flows: lower-case letters, digits and `-`. */

/** A name as a slug; "" where nothing of it can be in one. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
