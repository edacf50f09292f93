/** The state of a run or a node: a symbol and its word, never colour alone. */
import type { NodeState, RunState } from "@millrace/contracts";
import type { ComponentChildren } from "preact";

const SYMBOLS: Readonly<Record<RunState | NodeState | "invalid", string>> = {
  pending: "○",
  running: "●",
  retrying: "↻",
  paused: "‖",
  waiting: "?",
  cancelling: "⊘",
  succeeded: "✓",
  failed: "✗",
  skipped: "–",
  cancelled: "⊘",
  invalid: "✗",
};

/** The symbol of a state. */
export function symbolOf(state: RunState | NodeState | "invalid"): string {
  return SYMBOLS[state];
}

/** Shows a state. */
export function StateWord({
  state,
}: {
  readonly state: RunState | NodeState | "invalid";
}): ComponentChildren {
  return (
    <span class="state" data-state={state}>
      <span aria-hidden="true">{SYMBOLS[state]}</span> {state}
    </span>
  );
}
