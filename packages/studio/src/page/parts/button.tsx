/** A button that sends no form, and says why it cannot be used. */
import type { ComponentChildren, ComponentProps } from "preact";

/** Properties of a button. `refusal`: why it cannot be used, instead of its title; undefined: it can. */
export type ButtonProps = ComponentProps<"button"> & { readonly refusal?: string | undefined };

/** A button; `type="submit"` makes it send its form. */
export function Button({ refusal, disabled, title, ...rest }: ButtonProps): ComponentChildren {
  const isOff = disabled === true || refusal !== undefined;
  return <button type="button" {...rest} disabled={isOff} title={refusal ?? title} />;
}
