/** The opaque document: what `parseFlow` keeps of a text beside its graph. */

/**
 * A flow text as read, with its comments, empty lines, offsets and spelling. Immutable plain data, so it survives
 * `structuredClone`; its members are no part of the interface.
 */
export interface FlowDocument {
  readonly kind: "flow-document";
}

/** Limits that a text was read with; read again with the same, it gives the same. */
export interface ReadLimits {
  readonly maxDepth: number;
  readonly maxErrors: number;
  readonly maxLength: number;
}

/**
 * The inside: the text and how to read it. Items are read again on demand, which costs less than keeping tens of
 * objects for every line of every flow.
 */
export interface DocumentData extends FlowDocument {
  readonly source: string;
  readonly limits: ReadLimits;
}

/** The document of a text. */
export function documentOf(source: string, limits: ReadLimits): FlowDocument {
  const data: DocumentData = { kind: "flow-document", source, limits };
  return data;
}

/** The inside of a document. */
export function dataOf(document: FlowDocument): DocumentData {
  return document as DocumentData;
}

/** Whether a value is a document rather than a graph. */
export function isDocument(value: unknown): value is DocumentData {
  return (
    typeof value === "object" && value !== null && (value as FlowDocument).kind === "flow-document"
  );
}
