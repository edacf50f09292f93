/** Parts of a screen that are loaded when they are first shown; what a lost server did not send is asked for again when it is back. */
import type { ComponentChildren, ComponentType } from "preact";
import { loadPart } from "../state/load-part.ts";
import { useValue } from "../state/use-value.ts";
import { useWhenBack } from "../state/use-when-back.ts";
import { Button } from "./button.tsx";
import { messageOf } from "./problem.tsx";

/** A component that loads another one with `load`. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => ComponentChildren {
  let known: ComponentType<P> | undefined;
  const loadOnce = async (): Promise<ComponentType<P>> => {
    known ??= await loadPart(load);
    return known;
  };
  return function Lazily(props: P): ComponentChildren {
    const { error, reload } = useValue("", loadOnce);
    useWhenBack(error !== undefined, reload);
    const Part = known;
    if (Part !== undefined) return <Part {...props} />;
    return error === undefined ? <p class="muted">Loading…</p> : <NotLoaded error={error} />;
  };
}

/** Says that code of the page did not come. */
export function NotLoaded({ error }: { readonly error: unknown }): ComponentChildren {
  return (
    <div class="problem">
      <p>
        A part of the page could not be loaded: {messageOf(error)}. The server may have a newer
        page.
      </p>
      <Button onClick={() => location.reload()}>Reload the page</Button>
    </div>
  );
}
