/** The slider "Position": which event of a run the screen shows. Home is the first event, the arrows move by one, End is now. */
import type { ComponentChildren } from "preact";

/** The slider. `at`: undefined for now; `onChange` is told the same way. */
export function Position({
  at,
  last,
  text,
  onChange,
}: {
  readonly at: number | undefined;
  /** `seq` of the last event. */
  readonly last: number;
  /** The time of that moment, in words. */
  readonly text: string;
  readonly onChange: (seq: number | undefined) => void;
}): ComponentChildren {
  const value = Math.min(at ?? last, last);
  const where = at === undefined ? "now" : `event ${value} of ${last}`;
  return (
    <div class="moment">
      <input
        type="range"
        aria-label="Position"
        aria-valuetext={`${where}, ${text}`}
        min={Math.min(1, last)}
        max={last}
        step={1}
        value={value}
        disabled={last === 0}
        onInput={(event) => {
          const seq = Number(event.currentTarget.value);
          onChange(seq >= last ? undefined : seq);
        }}
      />
      <span class="moment-text" aria-hidden="true">
        {where}, {text}
      </span>
    </div>
  );
}
