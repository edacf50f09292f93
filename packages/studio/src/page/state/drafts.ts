/**
 * Texts of flows that were not saved, kept so that a reload loses nothing. A text with what looks like a credential is not kept: other
 * scripts of the origin and whoever uses the browser later could read it.
 *   D1  Each tab has its own draft of a flow: what is typed in one tab never replaces what is typed in another.
 *   D2  A tab without a draft takes over the newest one of the others, which is then its own.
 */
import { maskSecrets } from "@millrace/dsl";
import type { Kept as Storage } from "./storage.ts";

/** A text that was not saved. */
export interface Draft {
  readonly text: string;
  /** When it was typed, in milliseconds since 1970. */
  readonly at: number;
  /** Entity tag of the version that it began from; absent: the flow was never saved. */
  readonly etag?: string;
}

/** Whether a draft was kept: "secret": it looks as if it held a credential; "full": the browser does not keep it. */
export type Kept = "kept" | "secret" | "full";

/** Where drafts are kept. `slug` "": a flow that was never saved. */
export interface Drafts {
  read(slug: string): Draft | undefined;
  write(slug: string, draft: Draft): Kept;
  /** Removes the draft of this tab, and the one that it has taken over. */
  remove(slug: string): void;
}

const PREFIX = "millrace.draft.";

/** Drafts of a tab in a storage of the browser. */
export function draftsIn(storage: Storage, tab: string): Drafts {
  /** Keys of drafts of other tabs that this one has taken over, by slug. */
  const taken = new Map<string, string>();
  const ownKey = (slug: string): string => `${PREFIX}${slug}@${tab}`;
  const draftAt = (key: string): Draft | undefined => {
    try {
      const kept: unknown = JSON.parse(storage.get(key) ?? "null");
      return isDraft(kept) ? kept : undefined;
    } catch {
      return undefined; // not written by this page
    }
  };
  const removeTaken = (slug: string): void => {
    const key = taken.get(slug);
    if (key !== undefined) storage.remove(key);
    taken.delete(slug);
  };
  return {
    read(slug) {
      const own = draftAt(ownKey(slug));
      if (own !== undefined) return own;
      const others = storage
        .keys()
        .filter((key) => key.startsWith(`${PREFIX}${slug}@`))
        .flatMap((key) => {
          const draft = draftAt(key);
          return draft === undefined ? [] : [{ key, draft }];
        })
        .sort((a, b) => b.draft.at - a.draft.at);
      const [newest] = others;
      if (newest !== undefined) taken.set(slug, newest.key);
      return newest?.draft;
    },
    write(slug, draft) {
      if (maskSecrets(draft.text) !== draft.text) {
        storage.remove(ownKey(slug));
        return "secret";
      }
      if (!storage.set(ownKey(slug), JSON.stringify(draft))) return "full";
      removeTaken(slug);
      return "kept";
    },
    remove(slug) {
      storage.remove(ownKey(slug));
      removeTaken(slug);
    },
  };
}

function isDraft(kept: unknown): kept is Draft {
  if (typeof kept !== "object" || kept === null) return false;
  const { text, at, etag } = kept as Partial<Draft>;
  const hasTag = etag === undefined || typeof etag === "string";
  return typeof text === "string" && Number.isFinite(at) && hasTag;
}
