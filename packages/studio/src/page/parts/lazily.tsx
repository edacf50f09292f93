/** Parts of a screen that are loaded when they are first shown; what a lost server did not send is asked for again when it is back. */
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useWhenBack } from "../state/use-when-back.ts";
import { messageOf } from "./problem.tsx";

/** A component that stands for one that `load` brings. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => ComponentChildren {
  let known: ComponentType<P> | undefined;
  return function Lazily(props: P): ComponentChildren {
    const [loaded, setLoaded] = useState<{
      readonly part?: ComponentType<P>;
      readonly error?: unknown;
    }>(known === undefined ? NOTHING : { part: known });
    const [tries, setTries] = useState(0);
    useEffect(() => {
      if (known !== undefined) return undefined;
      let isWanted = true;
      load().then(
        (part) => {
          known = part;
          if (isWanted) setLoaded({ part });
        },
        (error: unknown) => isWanted && setLoaded({ error }),
      );
      return () => {
        isWanted = false;
      };
    }, [tries]);
    const { part: Part, error } = loaded;
    const isLost = error !== undefined;
    useWhenBack(isLost, () => setTries((count) => count + 1));
    if (Part !== undefined) return <Part {...props} />;
    return error === undefined ? (
      <p class="muted">Loading…</p>
    ) : (
      <p class="problem">
        A part of the page could not be loaded ({messageOf(error)}). Reload the page.
      </p>
    );
  };
}

const NOTHING = {};
