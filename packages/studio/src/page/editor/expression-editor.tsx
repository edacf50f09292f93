/** A value as an expression that is typed. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../parts/problem.tsx";
import type { ExpressionOptions, MountedExpression } from "./mount-expression.ts";

/** An editor of one value. */
export function ExpressionEditor({
  isInvalid,
  ...options
}: ExpressionOptions & { readonly isInvalid: boolean }): ComponentChildren {
  const { name, source, isReadOnly } = options;
  const [failure, setFailure] = useState<string>();
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<MountedExpression | undefined>(undefined);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    let isWanted = true;
    const mount = async (): Promise<void> => {
      const { mountExpression } = await import("./mount-expression.ts");
      if (!isWanted || host.current === null) return;
      mounted.current = mountExpression(host.current, {
        name,
        source: latest.current.source,
        isReadOnly,
        complete: (typed, offset) => latest.current.complete(typed, offset),
        onTyped: (typed) => latest.current.onTyped(typed),
      });
    };
    mount().catch((error: unknown) => isWanted && setFailure(messageOf(error)));
    return () => {
      isWanted = false;
      mounted.current?.destroy();
      mounted.current = undefined;
    };
  }, [name, isReadOnly]);
  useEffect(() => mounted.current?.show(source), [source]);
  useEffect(() => mounted.current?.setInvalid(isInvalid), [isInvalid]);
  return (
    <>
      {failure !== undefined && <p class="muted">The field could not be loaded: {failure}</p>}
      <div ref={host} class="expression" />
    </>
  );
}
