/** The group "Position": the way to move a node without dragging. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Numbers as they are being typed. */
type Draft = { readonly x?: string; readonly y?: string };

/** The corner of a node in its body; Enter applies what was typed. */
export function Position({
  corner,
  isReadOnly,
  onMove,
}: {
  readonly corner: readonly [x: number, y: number];
  readonly isReadOnly: boolean;
  readonly onMove: (x: number, y: number) => void;
}): ComponentChildren {
  const [x, y] = corner;
  /** Typed values that are not applied yet; a new layout of the picture keeps them. */
  const [draft, setDraft] = useState<Draft>({});
  const typed = { x: `${x}`, y: `${y}`, ...draft };
  useEffect(
    () =>
      setDraft((before) => ({
        ...(before.x !== undefined && Number(before.x) !== x && { x: before.x }),
        ...(before.y !== undefined && Number(before.y) !== y && { y: before.y }),
      })),
    [x, y],
  );
  const apply = (): void => {
    const [nextX, nextY] = [Number(typed.x), Number(typed.y)];
    const areNumbers = typed.x.trim() !== "" && typed.y.trim() !== "";
    const isOther = nextX !== x || nextY !== y;
    if (areNumbers && Number.isFinite(nextX) && Number.isFinite(nextY) && isOther) {
      onMove(nextX, nextY);
    }
  };
  const field = (name: "x" | "y"): ComponentChildren => (
    <label>
      {name.toUpperCase()}
      <input
        type="number"
        step="any"
        value={typed[name]}
        readOnly={isReadOnly}
        onInput={({ currentTarget: { value } }) => setDraft({ ...draft, [name]: value })}
        onKeyDown={({ key }) => key === "Enter" && apply()}
      />
    </label>
  );
  return (
    <fieldset class="position" title="Enter applies the position">
      <legend>Position</legend>
      {field("x")}
      {field("y")}
    </fieldset>
  );
}
