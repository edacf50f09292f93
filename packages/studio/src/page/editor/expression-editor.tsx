/** A value as an expression that is typed. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ExpressionOptions, MountedExpression } from "./mount-expression.ts";

/** An editor of one value. */
export function ExpressionEditor({
  isInvalid,
  ...options
}: ExpressionOptions & { readonly isInvalid: boolean }): ComponentChildren {
  const { name, source, isReadOnly } = options;
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedExpression | undefined>(undefined);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    let isWanted = true;
    void import("./mount-expression.ts").then(({ mountExpression }) => {
      if (!isWanted || host.current === null) return;
      mounted.current = mountExpression(host.current, {
        name,
        source: latest.current.source,
        isReadOnly,
        complete: (typed, offset) => latest.current.complete(typed, offset),
        onTyped: (typed) => latest.current.onTyped(typed),
      });
    });
    return () => {
      isWanted = false;
      mounted.current?.destroy();
      mounted.current = undefined;
    };
  }, [name, isReadOnly]);
  useEffect(() => mounted.current?.show(source), [source]);
  useEffect(() => mounted.current?.setInvalid(isInvalid), [isInvalid]);
  return <div ref={host} class="expression" />;
}
