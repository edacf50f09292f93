/** The way to add something to a list: a button, and the form that it opens. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { refusal } from "../state/meta.ts";
import type { Action } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";

/** The button, with the form below it, which gets the focus, while that is open. `form`: is given what closes it; `children`: other buttons in the row. */
export function NewItem({
  title,
  form,
  children,
}: {
  readonly title: string;
  readonly form: (close: () => void) => ComponentChildren;
  readonly children?: ComponentChildren;
}): ComponentChildren {
  const [isOpen, setOpen] = useState(false);
  const why = refusal("admin");
  const button = useRef<HTMLButtonElement>(null);
  const opened = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen) opened.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus(); // what had the focus goes away with the form
  };
  return (
    <>
      <div class="actions">
        <Button
          ref={button}
          class="primary"
          aria-expanded={isOpen}
          refusal={why}
          onClick={() => setOpen(!isOpen)}
        >
          {title}
        </Button>
        {children}
      </div>
      {isOpen && <div ref={opened}>{form(close)}</div>}
    </>
  );
}

/** A form on a screen. `work`: what its button does, unless `isOff`. */
export function FormCard({
  name,
  action,
  work,
  isOff = false,
  refusal: why,
  check = () => true,
  onClose,
  children,
}: {
  readonly name: string;
  /** Name of its button. */
  readonly action: string;
  readonly work: Action<[]>;
  readonly isOff?: boolean;
  /** Why it cannot be done. */
  readonly refusal?: string | undefined;
  /** Called first; false: it is not done. */
  readonly check?: () => boolean;
  /** It is done, or given up. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): ComponentChildren {
  return (
    <form
      aria-label={name}
      class="card form-card"
      onSubmit={(event) => {
        event.preventDefault();
        if (check()) void work.run().then((isDone) => isDone && onClose());
      }}
    >
      {children}
      <Problem error={work.error} />
      <div class="actions">
        <Button type="submit" class="primary" disabled={work.isBusy || isOff} refusal={why}>
          {action}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
