/** Colour and symbols, chosen once for one terminal. */

import { styleText } from "node:util";
import type { NodeState } from "@millrace/contracts";
import type { Environment } from "./io.ts";

/** Colours of meaning, not of taste; a plain style returns its text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  busy(text: string): string;
  /** The sign of a state, and its colour. */
  symbol(state: NodeState | "confirm" | "open"): Mark;
}

/** Text that is coloured once its place on the line is known. */
export interface Mark {
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** Signs with UTF-8 and without, and their colour. */
const SYMBOLS = {
  pending: ["○", "o", "dim"],
  running: ["●", "*", "busy"],
  retrying: ["↻", "r", "warn"],
  waiting: ["‖", "=", "warn"],
  confirm: ["?", "?", "warn"],
  succeeded: ["✓", "+", "good"],
  failed: ["✗", "x", "bad"],
  skipped: ["–", "-", "dim"],
  cancelled: ["⊘", "/", "dim"],
  open: ["▾", "v", "busy"],
} as const;

/** Decides by `--color`, `NO_COLOR`, `FORCE_COLOR`, `TERM` and whether stderr is a terminal; the flag wins. */
export function wantsColour(flag: string | undefined, env: Environment, isTTY: boolean): boolean {
  if (flag === "always") return true;
  if (flag === "never") return false;
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return true;
  return isTTY && env.TERM !== "dumb";
}

/** A style for one terminal; symbols are ASCII under `TERM=dumb` or a locale without UTF-8. */
export function createStyle(colour: boolean, env: Environment): Style {
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  const unicode = env.TERM !== "dumb" && (locale === "" || /utf-?8/i.test(locale));
  const paints = {
    bold: paint("bold"),
    dim: paint("dim"),
    good: paint("green"),
    bad: paint("red"),
    warn: paint("yellow"),
    busy: paint("cyan"),
  };
  return {
    ...paints,
    symbol(state) {
      const [sign, ascii, colour] = SYMBOLS[state];
      return { text: unicode ? sign : ascii, paint: paints[colour] };
    },
  };
}
