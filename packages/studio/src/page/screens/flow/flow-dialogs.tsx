/** The dialog of a flow that is open, if any. */
import type { ComponentChildren } from "preact";
import type { FlowProject } from "../../editor/project.ts";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { lazily } from "../../parts/lazily.tsx";
import { slugOf } from "../../parts/slug.ts";
import { findNode } from "../../state/flow-nodes.ts";
import { useAction } from "../../state/use-action.ts";
import { ChangedDialog } from "./changed-dialog.tsx";
import { AddNodeDialog, RenameDialog, ShortcutsDialog } from "./dialogs.tsx";
import { readersOf } from "./flow-view.ts";
import { SaveDialog } from "./save-dialog.tsx";
import { type FlowActions, noteOf } from "./use-flow-actions.ts";
import type { OpenFlow } from "./use-flow-session.ts";
import { VersionsDialog } from "./versions-dialog.tsx";

const RunDialog = lazily(async () => (await import("../../parts/run-dialog.tsx")).RunDialog);

/** Properties of the dialogs of a flow. */
export interface FlowDialogsProps {
  readonly flow: OpenFlow;
  readonly actions: FlowActions;
  readonly project: FlowProject | undefined;
  /** A node is selected; undefined: none is. */
  readonly onSelect: (path: string | undefined) => void;
}

/** Shows the dialog that is open. */
export function FlowDialogs({
  flow,
  actions,
  project,
  onSelect,
}: FlowDialogsProps): ComponentChildren {
  const { session } = flow;
  const { dialog, show, change } = actions;
  const remove = useAction(actions.deleteFlow);
  const close = (): void => show(undefined);
  const graph = session.reading.value?.graph;
  const stored = session.stored.value?.template;
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "save":
      return (
        <SaveDialog
          isNew={stored === undefined}
          noteOf={(error) => noteOf(session, error)}
          initial={{
            slug: stored?.slug ?? slugOf(graph?.id ?? ""),
            name: stored?.name ?? graph?.title ?? "",
            description: stored?.description ?? "",
            tags: [...(stored?.tags ?? [])],
          }}
          onSave={actions.saveAs}
          onClose={close}
        />
      );
    case "run":
      return (
        <RunDialog
          title="Run flow"
          inputs={graph?.inputs ?? []}
          draftKey={stored?.slug ?? graph?.id}
          onStart={actions.start}
          onClose={close}
        />
      );
    case "add":
      return (
        <AddNodeDialog
          entries={[...(project?.types.values() ?? [])]}
          taken={graph?.nodes.map(({ id }) => id) ?? []}
          onAdd={async (node) => {
            await flow.session.addNode(node);
            onSelect(node.id);
          }}
          onClose={close}
        />
      );
    case "rename": {
      const { path } = dialog;
      const placed = graph && findNode(graph, path);
      return (
        <RenameDialog
          id={placed?.node.id ?? path}
          onRename={async (to) => {
            await change({ kind: "renameNode", path, to });
            onSelect(placed?.owner === undefined ? to : `${placed.owner}/${to}`);
          }}
          onClose={close}
        />
      );
    }
    case "deleteNode": {
      const { path } = dialog;
      const placed = graph && findNode(graph, path);
      const readers = placed === undefined ? [] : readersOf(placed);
      return (
        <ConfirmDialog
          title={`Delete ${path}?`}
          action="Delete"
          onClose={close}
          onConfirm={() => {
            close();
            void actions.tryChange({ kind: "removeNode", path }).then(() => onSelect(undefined));
          }}
        >
          <p>
            The node is removed from the text, with its edges and its place in the layout. Undo
            brings it back.
          </p>
          {readers.length > 0 && (
            <p>
              {readers.join(", ")} {readers.length === 1 ? "reads" : "read"} this node, and will
              have problems until you change the text there.
            </p>
          )}
        </ConfirmDialog>
      );
    }
    case "deleteFlow":
      return (
        <ConfirmDialog
          title={`Delete ${stored?.slug}?`}
          action="Delete"
          isBusy={remove.isBusy}
          onClose={close}
          onConfirm={() => void remove.run().then(close)}
        >
          <p>The flow is deleted from the server with all its versions. Its runs stay.</p>
        </ConfirmDialog>
      );
    case "versions":
      return (
        <VersionsDialog
          slug={stored?.slug ?? ""}
          newest={stored?.version ?? 0}
          text={flow.old === undefined ? session.text : undefined}
          onRestore={actions.restore}
          onClose={close}
        />
      );
    case "shortcuts":
      return <ShortcutsDialog onClose={close} />;
    case "changed": {
      const { theirs, detail, details } = dialog;
      return (
        <ChangedDialog
          mine={session.text}
          theirs={theirs}
          detail={detail}
          onKeepMine={async () => {
            session.keepMine(theirs);
            close();
            await actions.saveAs(details);
          }}
          onTakeTheirs={() => {
            session.takeTheirs(theirs);
            close();
          }}
          onClose={close}
        />
      );
    }
  }
}
