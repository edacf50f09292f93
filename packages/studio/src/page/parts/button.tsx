/**
 * A button that sends no form, and says why it cannot be used. It is never disabled but marked so: it keeps the focus while it is busy,
 * and whoever comes to it without a pointer can ask for the reason.
 */
import type { ComponentChildren, ComponentProps } from "preact";
import { notify } from "../state/notifications.ts";

/** Properties of a button. `refusal`: why it cannot be used, instead of its title; undefined: it can. */
export type ButtonProps = ComponentProps<"button"> & { readonly refusal?: string | undefined };

/** A button; `type="submit"` makes it send its form. Pressed while it has a `refusal`, it says that. */
export function Button({
  refusal,
  disabled,
  title,
  onClick,
  ...rest
}: ButtonProps): ComponentChildren {
  const isOff = disabled === true || refusal !== undefined;
  const refuse = (event: Event): void => {
    event.preventDefault();
    if (refusal !== undefined) notify(`Not possible: ${refusal}`);
  };
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isOff || undefined}
      title={refusal ?? title}
      onClick={isOff ? refuse : onClick}
    />
  );
}
