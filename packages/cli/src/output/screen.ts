/**
 * Redraws a block of lines in place, at most twelve times a second, and leaves the last one standing.
 *   L1  A frame takes one row a line, whatever the terminal says of its width: it is drawn without wrapping. A terminal may
 *       wrap what it shows a good while before it tells its new width, and frames drawn meanwhile must not add to that.
 *   L2  Rows are erased by the width of now. What the terminal has wrapped is then gone, whether frames of an old width were
 *       drawn over it or not: they left above them exactly the rows by which it had grown.
 */

import { width } from "./cells.ts";
import type { CliIo, Output } from "./io.ts";

const FRAME_MS = 1_000 / 12; // faster is not seen, slower is
/** Of a terminal that does not say how wide it is. */
export const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Lines left to the shell above and below the block. */
const SPARE_ROWS = 4;
/** Lines that may wait for a frame; a run that logs faster than a terminal shows waits for it. */
const MAX_WAITING = 1_000;

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const NO_WRAP = "\u001b[?7l";
const WRAP = "\u001b[?7h";

/** What is drawn: lines for a terminal of this size. */
export type Draw = (size: { columns: number; maxRows: number | undefined }) => string[];

export interface Screen {
  /** Something changed; a frame follows soon. */
  touch(): void;
  /** Writes a line above the block, with the next frame. */
  above(line: string): void;
  /** Resolves at once unless the terminal is far behind. */
  ready(): Promise<void>;
  /** Draws the block once more, in full, and gives the terminal back. */
  end(): Promise<void>;
}

/** A screen on stderr. */
export function createScreen(io: CliIo, output: Output, draw: Draw): Screen {
  let drawn: readonly string[] = [];
  let waiting = "";
  let waitingLines = 0;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<boolean> | undefined;
  let ended = false;

  const size = (): { columns: number; rows: number } => {
    const { columns, rows } = io.size();
    return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
  };
  const erase = (columns: number): string => {
    let rows = 0;
    for (const line of drawn) rows += Math.max(1, Math.ceil(width(line) / columns));
    return rows === 0 ? "" : `\u001b[${rows}A\u001b[0J`;
  };
  const write = (maxRows: number | undefined, before: string, after: string): Promise<boolean> => {
    const { columns } = size();
    const lines = draw({ columns, maxRows });
    const text = lines.map((line) => `${line}\n`).join("");
    const done = output.write(
      `${before}${erase(columns)}${waiting}${NO_WRAP}${text}${WRAP}${after}`,
    );
    drawn = lines;
    waiting = "";
    waitingLines = 0;
    return done;
  };
  const frame = (): void => {
    timer = undefined;
    if (ended) return;
    if (written === undefined) {
      written = write(Math.max(2, size().rows - SPARE_ROWS), HIDE_CURSOR, "");
      void written.then(() => {
        written = undefined;
      });
    }
    schedule();
  };
  // The clock on the screen moves even when nothing happens.
  const schedule = (): void => {
    timer ??= setTimeout(frame, FRAME_MS).unref();
  };

  return {
    touch: schedule,
    above(line) {
      waiting += `${line}\n`;
      waitingLines += 1;
      schedule();
    },
    async ready() {
      if (waitingLines < MAX_WAITING) return;
      await written;
      if (!ended && written === undefined) frame();
      await written;
    },
    async end() {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      await write(undefined, "", SHOW_CURSOR);
    },
  };
}
