/** Flows to colour: the canonical ones of this package, and those of the repository's examples. */
import { readdirSync, readFileSync } from "node:fs";

export interface NamedFlow {
  readonly name: string;
  readonly text: string;
}

/** The canonical flows of this package. */
export const CANONICAL: readonly NamedFlow[] = flowsIn(
  new URL("../fixtures/flows/", import.meta.url),
);

const EXAMPLES = new URL("../../../../examples/", import.meta.url);

/** Those, and the flows of the examples. */
export const FLOWS: readonly NamedFlow[] = [
  ...CANONICAL,
  ...readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => flowsIn(new URL(`${name}/`, EXAMPLES), `${name}/`)),
];

function flowsIn(folder: URL, prefix = ""): NamedFlow[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".flow"))
    .sort()
    .map((name) => ({ name: prefix + name, text: readFileSync(new URL(name, folder), "utf8") }));
}
