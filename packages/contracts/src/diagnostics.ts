/** A problem of a flow, with its place and its fixes: the shape shared by language, server and command line. */
import type { diagnostic, fix, position, range } from "./events/parts.ts";
import type { Infer } from "./shape/index.ts";

/** A place in text. `line` and `column` count from 1, `offset` from 0, all in UTF-16 units. */
export interface Position extends Infer<typeof position> {}

/** A stretch of text; `end` is exclusive. */
export interface Range extends Infer<typeof range> {}

/** A change of text that mends a diagnostic when it is applied alone. */
export interface Fix extends Infer<typeof fix> {}

/**
 * One finding. `pointer` is a JSON Pointer into the graph, `range` a stretch of the text; at least one of them is present.
 * @see docs of `.flow` diagnostics for the codes
 */
export interface Diagnostic extends Infer<typeof diagnostic> {}

/** `error`: the flow does not run. */
export type Severity = Diagnostic["severity"];
