/** What is wrong with a flow, where, and how to mend it: the shape shared by language, server and command line. */

/** A place in text. `line` and `column` count from 1, `offset` from 0, all in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A stretch of text; `end` is exclusive. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** `error`: the flow does not run. */
export type Severity = "error" | "warning" | "info";

/** A change of text that mends a diagnostic when it is applied alone. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly { readonly range: Range; readonly newText: string }[];
}

/**
 * One finding. `pointer` is a JSON Pointer into the graph, `range` a stretch of the text; at least one of them is present.
 * @see docs of `.flow` diagnostics for the codes
 */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly pointer?: string;
  readonly range?: Range;
  readonly hint?: string;
  readonly related?: readonly { readonly range: Range; readonly message: string }[];
  readonly fixes?: readonly Fix[];
}
