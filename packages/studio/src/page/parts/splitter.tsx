/** The border between two panes: moved by keyboard or pointer. @see WAI-ARIA Authoring Practices, "Window Splitter" */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import "./splitter.css";

/** Step of an arrow key, in percent. */
const STEP = 2;

/** A border. `value`: the share of the pane that it sizes, in percent of the parent's width. */
export function Splitter({
  name,
  value,
  min,
  max,
  isAfter = false,
  onChange,
}: {
  readonly name: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** The pane that it sizes comes after it. */
  readonly isAfter?: boolean;
  readonly onChange: (value: number) => void;
}): ComponentChildren {
  const element = useRef<HTMLDivElement>(null);
  const set = (wanted: number): void =>
    onChange(Math.round(Math.min(max, Math.max(min, wanted)) * 10) / 10);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = isAfter ? -STEP : STEP;
    const wanted = { ArrowRight: value + step, ArrowLeft: value - step, Home: min, End: max }[
      event.key
    ];
    if (wanted === undefined) return;
    event.preventDefault();
    set(wanted);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const own = element.current;
    const parent = own?.parentElement;
    if (!own?.hasPointerCapture(event.pointerId) || !parent) return;
    const { left, right, width } = parent.getBoundingClientRect();
    set((100 * (isAfter ? right - event.clientX : event.clientX - left)) / width);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      ref={element}
      class="splitter"
      role="separator"
      aria-label={name}
      aria-orientation="vertical"
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => element.current?.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}
