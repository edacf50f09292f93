/** Colours of the drawing. They are custom properties of the canvas in canvas.css, so that both themes and forced colours reach it. */

/** Uses of colours. */
const ROLES = [
  "background",
  "surface",
  "body",
  "text",
  "muted",
  "line",
  "edge",
  "implied",
  "fault",
  "selection",
  "state-running",
  "state-retrying",
  "state-waiting",
  "state-succeeded",
  "state-failed",
  "state-cancelled",
  "state-skipped",
  "state-pending",
  "on-state",
] as const;

/** A use of a colour. */
export type ColourRole = (typeof ROLES)[number];

/** Colours as a drawing context takes them. */
export type Palette = Readonly<Record<ColourRole, string>> & {
  /** Family of the font of the page. */
  readonly font: string;
};

/** Reads the colours of an element: `var()` and `light-dark()` are resolved by a probe inside of it. */
export function readPalette(element: HTMLElement): Palette {
  const probe = document.createElement("i");
  probe.className = "canvas-probe";
  element.append(probe);
  const style = getComputedStyle(probe);
  const colours = ROLES.map((role): [ColourRole, string] => {
    probe.style.color = `var(--canvas-${role})`;
    return [role, style.color];
  });
  const palette = { ...Object.fromEntries(colours), font: style.fontFamily } as Palette;
  probe.remove();
  return palette;
}
