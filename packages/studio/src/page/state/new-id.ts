/** A random id of letters and digits. `crypto.randomUUID` is missing on pages of plain http. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
