/** Common parts of list screens: loading state, empty state, and "Load more". */
import type { ComponentChildren } from "preact";
import { isUnreachable } from "../backend.ts";
import type { ListState } from "../state/use-list.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import "./list-screen.css";

/** Shows a list by `children`, or `empty` where it has no items. */
export function ListView<T>({
  list,
  empty,
  children,
}: {
  readonly list: ListState<T>;
  readonly empty: ComponentChildren;
  readonly children: (items: readonly T[]) => ComponentChildren;
}): ComponentChildren {
  const { items, hasMore, isLoading, error, loadMore } = list;
  // The frame says that the server does not answer, and the list is read when it does.
  const isLost = isUnreachable(error);
  return (
    <>
      <Problem error={isLost ? undefined : error} />
      {items === undefined && (error === undefined || isLost) && (
        <p class="muted">{isLost ? "The server cannot be reached. Trying again…" : "Loading…"}</p>
      )}
      <div role="status">{items?.length === 0 && empty}</div>
      {items !== undefined && items.length > 0 && children(items)}
      {hasMore && (
        <Button disabled={isLoading} onClick={loadMore}>
          Load more
        </Button>
      )}
    </>
  );
}
