/** An open flow: picture, text and inspector side by side, with one selection. */
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import type { FlowProblem } from "../../../worker/protocol.ts";
import { Canvas, type NodeDetails } from "../../canvas/canvas.tsx";
import { FlowEditor } from "../../editor/flow-editor.tsx";
import type { MountedEditor } from "../../editor/mount.ts";
import type { FlowProject } from "../../editor/project.ts";
import { Button } from "../../parts/button.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Splitter } from "../../parts/splitter.tsx";
import { NodeTree } from "../../parts/tree/node-tree.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { isTextWanted, setQuery } from "../../router.ts";
import { findNode } from "../../state/flow-nodes.ts";
import { meta } from "../../state/meta.ts";
import { FlowDialogs } from "./flow-dialogs.tsx";
import { FlowToolbar } from "./flow-toolbar.tsx";
import { neighbour, problemCounts, treeItems } from "./flow-view.ts";
import { NodePanel } from "./node-panel.tsx";
import { Notices } from "./notices.tsx";
import { Overview } from "./overview.tsx";
import { PANE_RANGE, type Pane, panes, setPanes } from "./panes.ts";
import { Problems } from "./problems.tsx";
import { noteOf, useFlowActions, wouldLose } from "./use-flow-actions.ts";
import { useFlowKeys } from "./use-flow-keys.ts";
import type { OpenFlow } from "./use-flow-session.ts";
import "./flow.css";

/** Longest text where the server does not say, in UTF-16 units. */
const MAX_LENGTH = 524_288;

/** Properties of the workbench. */
export interface WorkbenchProps {
  readonly flow: OpenFlow;
  readonly project: FlowProject | undefined;
  readonly projectError: unknown;
  readonly onReloadProject: () => void;
  /** Path of the selected node. */
  readonly selected: string | undefined;
}

/** The screen of a flow that is open. */
export function Workbench({
  flow,
  project,
  projectError,
  onReloadProject,
  selected,
}: WorkbenchProps): ComponentChildren {
  const { session, old } = flow;
  const actions = useFlowActions(flow);
  const editor = useRef<MountedEditor | undefined>(undefined);
  const inspector = useRef<HTMLElement>(null);
  const reading = session.reading.value;
  const problems = session.problems.value;
  const stored = session.stored.value?.template;
  const counts = useMemo(() => problemCounts(problems ?? []), [problems]);
  const items = useMemo(() => (reading ? treeItems(reading.graph, counts) : []), [reading, counts]);
  const details = useMemo(
    () =>
      new Map(
        [...counts].map(([path, count]): [string, NodeDetails] => [path, { problems: count }]),
      ),
    [counts],
  );
  const isReadOnly = old !== undefined;
  const canChange = !isReadOnly && reading?.isWhole === true;

  useEffect(() => {
    if (project !== undefined) void session.readAgain();
  }, [project, session]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (wouldLose(session)) event.preventDefault();
    };
    const keep = (): void => session.keep();
    addEventListener("beforeunload", ask);
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("beforeunload", ask);
      removeEventListener("pagehide", keep);
    };
  }, [session]);

  const showInText = useCallback(
    async (path: string, focus = false): Promise<void> => {
      const place = await session.ask("placeOf", path);
      if (place !== undefined) editor.current?.show(place.start, { focus });
    },
    [session],
  );
  const select = (path: string | undefined): void => {
    setQuery({ node: path });
    if (path !== undefined) void showInText(path);
  };
  const goTo = ({ range, node: place }: FlowProblem): void => {
    setQuery({ node: place });
    if (range === undefined) return;
    editor.current?.show(range.start.offset, { to: range.end.offset, focus: true });
  };
  const fix = async (problem: FlowProblem, title: string): Promise<void> => {
    await actions.fix(problem, title);
    // The button is gone with the problem: the focus goes to what was mended.
    editor.current?.show(problem.range?.start.offset ?? 0, { focus: true });
  };
  const undo = (): void => void editor.current?.undo();
  const redo = (): void => void editor.current?.redo();
  useFlowKeys({ actions, problems, isReadOnly, inspector, goTo, undo, redo });
  const moveTo = (path: string, x: number, y: number): void => {
    void actions.tryChange({ kind: "setLayout", path, x: Math.round(x), y: Math.round(y) });
  };

  const shown = (pane: Pane): boolean => !panes.value.hidden.includes(pane);
  const node = selected === undefined ? undefined : reading && findNode(reading.graph, selected);
  const title = stored?.name ?? reading?.graph.title ?? "New flow";
  return (
    <div class="flow-screen">
      <div class="flow-head">
        <Heading title={title}>
          <VisibleText text={title} />
        </Heading>
        <span class="muted">
          {stored &&
            `${title === stored.slug ? "" : stored.slug} v${old?.version ?? stored.version}`}
          {session.isDirty.value && " · not saved"}
        </span>
        <FlowToolbar flow={flow} actions={actions} undo={undo} redo={redo} />
      </div>
      <Failures
        error={actions.error ?? session.failure.value}
        note={noteOf(session, actions.error)}
        projectError={projectError}
        onReloadProject={onReloadProject}
      />
      <Notices flow={flow} actions={actions} />
      <div class="panes" style={{ gridTemplateColumns: columnsOf() }}>
        <div class="pane pane-canvas" hidden={!shown("canvas")}>
          {reading && (
            <Canvas
              picture={reading.picture}
              details={details}
              selected={selected}
              onSelect={select}
              title={stored?.slug ?? reading.graph.id}
              {...(canChange && {
                onMove: moveTo,
                onTidy: () => void actions.tryChange({ kind: "clearLayout" }),
              })}
            />
          )}
          <div class="pane-tree">
            {reading && items.length === 0 && (
              <p class="muted">
                No nodes yet. "Add node" adds one; one that is written in the text appears here,
                too.
              </p>
            )}
            <NodeTree
              items={items}
              selected={selected}
              startsOpen
              onSelect={select}
              onOpen={() => inspector.current?.focus()}
              {...(canChange && {
                onRename: (path) => actions.show({ kind: "rename", path }),
                onDelete: (path) => actions.show({ kind: "deleteNode", path }),
              })}
              neighbours={(path, direction) =>
                reading && neighbour(reading.picture, path, direction)
              }
            />
          </div>
        </div>
        {shown("canvas") && (shown("text") || shown("inspector")) && (
          <Splitter
            name="Width of the canvas"
            value={panes.value.canvas}
            {...PANE_RANGE}
            onChange={(canvas) => setPanes({ canvas })}
          />
        )}
        <div class="pane pane-text" hidden={!shown("text")}>
          <FlowEditor
            session={session}
            isReadOnly={isReadOnly}
            maxLength={meta.value?.limits["maxDslBytes"] ?? MAX_LENGTH}
            onMount={(mounted) => {
              editor.current = mounted;
              if (mounted !== undefined && selected !== undefined) {
                void showInText(selected, isTextWanted());
              }
            }}
            onCursor={(offset) =>
              void session.ask("nodeAt", offset).then((path) => setQuery({ node: path }))
            }
          />
          <Problems
            problems={problems}
            isBlank={session.text.trim() === ""}
            onFix={isReadOnly ? undefined : fix}
            onGoTo={goTo}
          />
        </div>
        {shown("text") && shown("inspector") && (
          <Splitter
            name="Width of the inspector"
            value={panes.value.inspector}
            {...PANE_RANGE}
            isAfter
            onChange={(width) => setPanes({ inspector: width })}
          />
        )}
        <aside
          ref={inspector}
          aria-label="Inspector"
          tabIndex={node === undefined ? 0 : -1} // without fields it is what scrolls
          class="pane pane-inspector"
          hidden={!shown("inspector")}
        >
          {reading === undefined ? (
            <p class="muted">Reading the text…</p>
          ) : selected === undefined || node === undefined ? (
            <Overview reading={reading} project={project} slug={stored?.slug} />
          ) : (
            <NodePanel
              key={selected}
              session={session}
              reading={reading}
              path={selected}
              entry={project?.types.get(node.node.type)}
              isReadOnly={isReadOnly}
              onChange={actions.change}
              onRename={() => actions.show({ kind: "rename", path: selected })}
              onDelete={() => actions.show({ kind: "deleteNode", path: selected })}
            />
          )}
        </aside>
      </div>
      <FlowDialogs flow={flow} actions={actions} project={project} onSelect={select} />
    </div>
  );
}

/** The columns of the panes that are shown, with the borders between them. */
function columnsOf(): string {
  const { canvas, inspector, hidden } = panes.value;
  const shown = (["canvas", "text", "inspector"] as const).filter((pane) => !hidden.includes(pane));
  const filling = shown.includes("text") ? "text" : shown.at(-1);
  const width = (pane: Pane): string =>
    pane === filling || pane === "text"
      ? "minmax(0, 1fr)"
      : `minmax(0, ${pane === "canvas" ? canvas : inspector}%)`;
  return shown.map(width).join(" auto ");
}

function Failures({
  error,
  note,
  projectError,
  onReloadProject,
}: {
  readonly error: unknown;
  readonly note: string | undefined;
  readonly projectError: unknown;
  readonly onReloadProject: () => void;
}): ComponentChildren {
  return (
    <>
      <Problem error={error ?? projectError} note={note} />
      {projectError !== undefined && (
        <Button onClick={onReloadProject}>Read the catalog again</Button>
      )}
    </>
  );
}
