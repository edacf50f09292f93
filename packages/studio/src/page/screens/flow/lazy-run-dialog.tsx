/** The dialog "Run flow", loaded when it is first opened: its form is a large part of the screen. */
import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";

type Module = typeof import("../../parts/run-dialog.tsx");

let loaded: Module | undefined;

/** The dialog of a run; until it is loaded, a dialog of the same title that says so. */
export function LazyRunDialog(props: ComponentProps<Module["RunDialog"]>): ComponentChildren {
  const [error, setError] = useState<unknown>();
  const [, setLoaded] = useState(loaded !== undefined);
  useEffect(() => {
    if (loaded !== undefined) return;
    import("../../parts/run-dialog.tsx").then((module) => {
      loaded = module;
      setLoaded(true);
    }, setError);
  }, []);
  if (loaded !== undefined) return <loaded.RunDialog {...props} />;
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Problem error={error} />
      {error === undefined && <p class="muted">Loading…</p>}
    </Dialog>
  );
}
