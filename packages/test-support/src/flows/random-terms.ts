/** Random expressions over what a node may read. Each is a whole number, or skips its reader. */
import type { Random } from "@millrace/engine/testing";

export interface Readable {
  readonly id: string;
  readonly kind: string;
  /** Its failure leaves by `error`, so that `id.error` may be there. */
  readonly routes: boolean;
}

/** How the record of each kind becomes a number; `?.` is put in for an optional read. */
const NUMBERS: { readonly [kind: string]: (node: string) => string } = {
  scripted: (node) => `${node}.value`,
  transform: (node) => `${node}.value`,
  switch: (node) => `${node}.value`,
  map: (node) => `${node}.count`,
  loop: (node) => `${node}.rounds`,
};

/** A sum of one to three terms. `safe`: every read of a node is optional. */
export function numberOf(
  random: Random,
  from: { readable: readonly Readable[]; locals: readonly string[]; safe: boolean },
): string {
  const terms = Array.from({ length: random.integer(1, 3) }, () => term(random, from));
  return `(${terms.join(" + ")}) % 97`.replace(/^\((\d+)\) % 97$/, "($1 + 0)");
}

function term(
  random: Random,
  {
    readable,
    locals,
    safe,
  }: { readable: readonly Readable[]; locals: readonly string[]; safe: boolean },
): string {
  const choice = random();
  if (choice < 0.2 || (readable.length === 0 && choice < 0.5)) return String(random.integer(0, 9));
  if (choice < 0.4 || readable.length === 0) return `(${random.pick(locals)} ?? 0)`;
  const node = random.pick(readable.slice(-10));
  const optional = safe || random.chance(0.9);
  if (node.routes && random.chance(0.3)) return errorTerm(node.id, optional);
  if (node.kind === "condition") {
    return optional ? `((${node.id}?.result ?? false) ? 1 : 2)` : `(${node.id}.result ? 1 : 2)`;
  }
  // Which source is first depends on the order of settling, that there is one does not.
  if (node.kind === "join") return `(${node.id}${optional ? "?" : ""}.first == null ? 1 : 2)`;
  const read = NUMBERS[node.kind] as (node: string) => string;
  return optional ? `(${read(`${node.id}?`)} ?? 3)` : read(node.id);
}

function errorTerm(id: string, optional: boolean): string {
  const code = optional ? `${id}?.error?.code` : `${id}.error.code`;
  return `(${code} == "scripted" ? 5 : 6)`;
}
