/** A dialog over the page: named, closed by Escape, and the focus goes back to where it was. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { isUnauthorised } from "../backend.ts";
import type { Action } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import "./dialog.css";

/** A dialog that is open while it is in the page. `onClose`: Escape, "Cancel", or a click beside it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): ComponentChildren {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const pressed = useRef<EventTarget | null>(null);
  const before = useRef<Element | null>(null);
  const isCovered = isUnauthorised.value; // a modal dialog would take every key and click from the sign-in
  useLayoutEffect(() => {
    before.current ??= focused();
    const dialog = element.current;
    if (isCovered) return undefined;
    dialog?.showModal();
    return () => {
      dialog?.close(); // nothing beside a modal dialog takes the focus while it is open
      if (before.current instanceof HTMLElement) before.current.focus();
    };
  }, [isCovered]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={({ target }) => {
        pressed.current = target;
      }}
      onClick={({ target }) => {
        // Whoever marks a text and lets go beside the dialog has not clicked there.
        if (target === element.current && pressed.current === target) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** The element with the focus, also inside of a shadow root. */
export function focused(): Element | null {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

/** The buttons at the end of a dialog: the one that closes it, and after it what the dialog is for. */
export function DialogActions({
  close = "Cancel",
  hasFocus = false,
  onClose,
  children,
}: {
  /** Name of the button that closes the dialog. */
  readonly close?: string;
  /** That button has the focus when the dialog opens. */
  readonly hasFocus?: boolean;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}): ComponentChildren {
  return (
    <div class="dialog-actions">
      <Button autofocus={hasFocus} onClick={onClose}>
        {close}
      </Button>
      {children}
    </div>
  );
}

/** A dialog with a form. `work`: what its button does, unless `isOff`; the dialog closes when it is done. */
export function FormDialog({
  title,
  action,
  work,
  isOff = false,
  note,
  onClose,
  children,
}: {
  readonly title: string;
  /** Name of the button. */
  readonly action: string;
  readonly work: Action<[]>;
  readonly isOff?: boolean;
  /** A remark for the person after a failure. */
  readonly note?: string | undefined;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): ComponentChildren {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void work.run().then((isDone) => isDone && onClose());
        }}
      >
        <Problem error={work.error} note={note} />
        {children}
        <DialogActions onClose={onClose}>
          <Button type="submit" class="primary" disabled={work.isBusy || isOff}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** A dialog before an act that cannot be taken back: it says what will happen, and "Cancel" has the focus. */
export function ConfirmDialog({
  title,
  action,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** Name of the button that does it. */
  readonly action: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Description of the consequences. */
  readonly children: ComponentChildren;
}): ComponentChildren {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <DialogActions hasFocus onClose={onClose}>
        <Button class="danger" disabled={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
