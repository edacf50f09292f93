/** The dialog "Changed on the server": somebody saved the flow since this text began. */
import type { ComponentChildren } from "preact";
import { DiffView } from "../../editor/diff-view.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import type { Stored } from "../../state/stored-flow.ts";
import { useAction } from "../../state/use-action.ts";

/** Shows what differs, and asks which of the two stays. */
export function ChangedDialog({
  mine,
  theirs,
  detail,
  onKeepMine,
  onTakeTheirs,
  onClose,
}: {
  readonly mine: string;
  readonly theirs: Stored;
  /** The server's details. */
  readonly detail: string | undefined;
  readonly onKeepMine: () => Promise<void>;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  const keep = useAction(onKeepMine);
  const { version, dsl } = theirs.template;
  return (
    <Dialog title="Changed on the server" onClose={onClose}>
      <Problem error={keep.error} />
      <p>
        Somebody saved version {version} since you opened this flow, so your text was not saved.
        Below, your text is shown with what it would replace.
      </p>
      {detail !== undefined && (
        <p>
          The server says: <VisibleText text={detail} />.
        </p>
      )}
      <DiffView name={`Your text against version ${version}`} before={dsl} after={mine} />
      <DialogActions hasFocus onClose={onClose}>
        <Button onClick={onTakeTheirs}>Take theirs</Button>
        <Button disabled={keep.isBusy} onClick={() => void keep.run()}>
          Keep mine
        </Button>
      </DialogActions>
    </Dialog>
  );
}
