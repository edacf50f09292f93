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

const UNICODE = {
  pending: "○",
  running: "●",
  retrying: "↻",
  waiting: "‖",
  confirm: "?",
  succeeded: "✓",
  failed: "✗",
  skipped: "–",
  cancelled: "⊘",
  open: "▾",
};
const ASCII = {
  pending: "o",
  running: "*",
  retrying: "r",
  waiting: "=",
  confirm: "?",
  succeeded: "+",
  failed: "x",
  skipped: "-",
  cancelled: "/",
  open: "v",
};

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
  const symbols = unicode ? UNICODE : ASCII;
  const good = paint("green");
  const bad = paint("red");
  const warn = paint("yellow");
  const busy = paint("cyan");
  const dim = paint("dim");
  const colours: Partial<Record<keyof typeof UNICODE, (text: string) => string>> = {
    running: busy,
    open: busy,
    retrying: warn,
    waiting: warn,
    confirm: warn,
    succeeded: good,
    failed: bad,
    skipped: dim,
    cancelled: dim,
    pending: dim,
  };
  return {
    bold: paint("bold"),
    dim,
    good,
    bad,
    warn,
    busy,
    symbol: (state) => ({ text: symbols[state], paint: colours[state] ?? dim }),
  };
}
