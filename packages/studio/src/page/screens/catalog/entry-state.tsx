/** Reasons why a node type cannot, or should not, be used. */
import type { CatalogEntry } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { Prose } from "../../parts/prose.tsx";

/** Nothing for a type that is ready. */
export function EntryState({
  entry: { state, problem, deprecated },
}: {
  readonly entry: CatalogEntry;
}): ComponentChildren {
  return (
    <>
      {state !== "ready" && (
        <p class="entry-state">
          <strong>
            <span aria-hidden="true">{state === "failed" ? "✗" : "⊘"}</span> {state}
          </strong>
          {problem !== undefined && (
            <>
              : <code>{problem.code}</code> <Prose text={problem.message} />
            </>
          )}
        </p>
      )}
      {deprecated !== undefined && (
        <p class="entry-state">
          <strong>Deprecated</strong>: <Prose text={deprecated} />
        </p>
      )}
    </>
  );
}
