/** The toolbar "Flow", with the menu of what is done less often. */
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import { saveText } from "../../parts/clipboard.ts";
import { Menu, type MenuItem } from "../../parts/menu.tsx";
import { Toolbar } from "../../parts/toolbar.tsx";
import { refusal } from "../../state/meta.ts";
import { runRefusal } from "./flow-view.ts";
import { type Pane, panes, togglePane } from "./panes.ts";
import type { FlowActions } from "./use-flow-actions.ts";
import type { OpenFlow } from "./use-flow-session.ts";

const PANES: readonly (readonly [pane: Pane, title: string])[] = [
  ["canvas", "Canvas"],
  ["text", "Flow text"],
  ["inspector", "Inspector"],
];
const OLD = "an old version is read-only";

/** The buttons of a flow. */
export function FlowToolbar({
  flow: { session, old },
  actions,
  undo,
  redo,
}: {
  readonly flow: OpenFlow;
  readonly actions: FlowActions;
  readonly undo: () => void;
  readonly redo: () => void;
}): ComponentChildren {
  const { save, run, format, show } = actions;
  const isOld = old === undefined ? undefined : OLD;
  const stored = session.stored.value?.template;
  const noSave = isOld ?? refusal("admin");
  const unread = session.reading.value === undefined ? "the flow is being read" : undefined;
  const noRun = refusal("run") ?? unread ?? runRefusal(session.problems.value);
  const noChange =
    isOld ??
    (session.reading.value?.isWhole === false ? "mend the errors of syntax first" : undefined);
  const unsaved = stored === undefined ? "save the flow first" : undefined;
  const items: readonly MenuItem[] = [
    { title: "Undo", onChoose: undo, refusal: isOld },
    { title: "Redo", onChoose: redo, refusal: isOld },
    { title: "Run with options…", onChoose: () => show({ kind: "run" }), refusal: noRun },
    { title: "Save with details…", onChoose: () => show({ kind: "save" }), refusal: noSave },
    { title: "Versions…", onChoose: () => show({ kind: "versions" }), refusal: unsaved },
    {
      title: "Export .flow",
      onChoose: () => saveText(`${stored?.slug ?? "flow"}.flow`, session.text, "text/plain"),
    },
    { title: "Keyboard shortcuts", onChoose: () => show({ kind: "shortcuts" }) },
    ...PANES.map(([pane, title]) => ({
      title: `Show ${title}`,
      onChoose: () => togglePane(pane),
      isChecked: !panes.value.hidden.includes(pane),
    })),
    {
      title: "Delete flow…",
      onChoose: () => show({ kind: "deleteFlow" }),
      refusal: unsaved ?? refusal("admin"),
    },
  ];
  return (
    <div class="flow-actions">
      <Toolbar name="Flow">
        <Button refusal={noSave} title="Ctrl+S" onClick={() => void save()}>
          Save
        </Button>
        <Button class="primary" refusal={noRun} title="Ctrl+Enter" onClick={() => void run()}>
          Run
        </Button>
        <Button refusal={isOld} title="Ctrl+Shift+F" onClick={() => void format()}>
          Format
        </Button>
        <Button refusal={noChange} onClick={() => show({ kind: "add" })}>
          Add node
        </Button>
      </Toolbar>
      <Menu name="More" items={items} />
    </div>
  );
}
