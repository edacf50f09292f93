/** The effect of a node type outside of a run: its word in the catalog, and an explanation. */
import type { CatalogEntry } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import "./effect.css";

const MEANINGS: Readonly<Record<CatalogEntry["effect"], string>> = {
  pure: "only computes: reads and changes nothing outside of the run",
  read: "reads something outside of the run",
  write: "changes something outside of the run",
  destructive: "may delete or overwrite something outside of the run",
};

/** Explanation of an effect. */
export function effectMeaning(effect: CatalogEntry["effect"]): string {
  return MEANINGS[effect];
}

/** The word, with its meaning in the title. */
export function Effect({ effect }: { readonly effect: CatalogEntry["effect"] }): ComponentChildren {
  return (
    <span class={`effect effect-${effect}`} title={MEANINGS[effect]}>
      {effect}
    </span>
  );
}
