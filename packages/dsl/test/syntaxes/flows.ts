/** Flows to colour: the canonical ones of this package, and those of the repository's examples. */
import { readdirSync, readFileSync } from "node:fs";

export interface NamedFlow {
  readonly name: string;
  readonly text: string;
}

/** The canonical flows of this package. */
export const CANONICAL: readonly NamedFlow[] = flowsBelow("../fixtures/flows/");

/** Those, and the flows of the examples. */
export const FLOWS: readonly NamedFlow[] = [...CANONICAL, ...flowsBelow("../../../../examples/")];

function flowsBelow(path: string): NamedFlow[] {
  const folder = new URL(path, import.meta.url);
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".flow") && !name.includes("node_modules"))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
}
