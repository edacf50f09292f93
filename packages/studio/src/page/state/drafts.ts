/**
 * Texts of flows that were not saved, kept in `localStorage` so that a reload loses nothing. A text with what looks like a credential is
 * not kept: other scripts of the origin and whoever uses the browser later could read it.
 */
import { maskSecrets } from "@millrace/dsl";

/** A text that was not saved. */
export interface Draft {
  readonly text: string;
  /** When it was typed, in milliseconds since 1970. */
  readonly at: number;
  /** Entity tag of the version that it began from; absent: the flow was never saved. */
  readonly etag?: string;
}

/** Whether a draft was kept: "secret": it looks as if it held a credential; "full": the browser has no room. */
export type Kept = "kept" | "secret" | "full";

/** Where drafts are kept. `slug` "": a flow that was never saved. */
export interface Drafts {
  read(slug: string): Draft | undefined;
  write(slug: string, draft: Draft): Kept;
  remove(slug: string): void;
}

const PREFIX = "millrace.draft.";

/** Drafts in a storage of the browser. */
export function draftsIn(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">): Drafts {
  return {
    read(slug) {
      try {
        const kept: unknown = JSON.parse(storage.getItem(PREFIX + slug) ?? "null");
        return isDraft(kept) ? kept : undefined;
      } catch {
        return undefined; // not written by this page
      }
    },
    write(slug, draft) {
      if (maskSecrets(draft.text) !== draft.text) {
        storage.removeItem(PREFIX + slug);
        return "secret";
      }
      try {
        storage.setItem(PREFIX + slug, JSON.stringify(draft));
        return "kept";
      } catch {
        return "full";
      }
    },
    remove: (slug) => storage.removeItem(PREFIX + slug),
  };
}

function isDraft(kept: unknown): kept is Draft {
  if (typeof kept !== "object" || kept === null) return false;
  const { text, at, etag } = kept as Partial<Draft>;
  const hasTag = etag === undefined || typeof etag === "string";
  return typeof text === "string" && Number.isFinite(at) && hasTag;
}
