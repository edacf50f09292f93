/** The differences between two texts. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../parts/problem.tsx";
import { escapedText } from "../parts/value-view/escapes.ts";

/**
 * Shows `after` with what was there before; `name`: what a screen reader calls it. A character that is not seen, or that changes the
 * order of others, is shown as its escape.
 */
export function DiffView({
  name,
  before: textBefore,
  after: textAfter,
}: {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}): ComponentChildren {
  const [before, after] = [escapedText(textBefore), escapedText(textAfter)];
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isWanted = true;
    let remove: (() => void) | undefined;
    import("./diff.ts").then(
      ({ showDifference }) => {
        if (isWanted && host.current !== null) {
          remove = showDifference(host.current, { name, before, after });
        }
      },
      (reason: unknown) => isWanted && setError(reason),
    );
    return () => {
      isWanted = false;
      remove?.();
    };
  }, [name, before, after]);
  if (before === after) return <p class="muted">{name}: no difference.</p>;
  return (
    <>
      <Problem error={error} />
      <div ref={host} class="diff" />
    </>
  );
}
