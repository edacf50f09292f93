/** The opaque document: what `parseFlow` keeps of a text beside its graph. */
import type { Comment, Item } from "./tree.ts";

/**
 * A flow text as read: its items in order, with comments, empty lines and offsets. Immutable plain data, so it survives
 * `structuredClone`; its members are no part of the interface.
 */
export interface FlowDocument {
  readonly kind: "flow-document";
}

export interface DocumentData extends FlowDocument {
  /** The text that the offsets count in. */
  readonly source: string;
  readonly items: readonly Item[];
  /** Comments behind the last item. */
  readonly foot: readonly Comment[];
  /** The first item could not be read, so it may have been the header. */
  readonly headless: boolean;
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
