/**
 * Redraws a block of lines in place, at most twelve times a second, and leaves the last one standing.
 *   L1  A frame takes one row a line, whatever the terminal says of its width: it is drawn without wrapping. A terminal may
 *       wrap what it shows a good while before it tells its new width, and frames drawn meanwhile must not add to that.
 *   L2  Rows are erased by the width of now. What the terminal has wrapped is then gone, whether frames of an old width were
 *       drawn over it or not: they left above them exactly the rows by which it had grown.
 *   L3  Lines above the block that may have been written after the terminal wrapped have those rows above them. The first frame
 *       of a narrower terminal takes them away too, and writes the lines once more.
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
/** Frames that may be drawn between the moment a terminal wraps and the one it tells its new width: half a second. */
const LATE_FRAMES = 6;

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const NO_WRAP = "\u001b[?7l";
const WRAP = "\u001b[?7h";

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

/** Rows that lines take on a terminal that wraps. */
function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

export function createScreen(io: CliIo, output: Output, draw: Draw): Screen {
  let drawn: readonly string[] = [];
  let drawnFor = 0;
  let waiting: string[] = [];
  /** Lines that the last frames wrote above the block, the oldest first. */
  let recent: (readonly string[])[] = [];
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<boolean> | undefined;
  let ended = false;

  const size = (): { columns: number; rows: number } => {
    const { columns, rows } = io.size();
    return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
  };
  /** The newest of the recent lines that the screen still shows whole, when the terminal has become narrower. */
  const again = (columns: number, rows: number): readonly string[] => {
    if (columns >= drawnFor) return [];
    const lines = recent.flat();
    let left = rows - 1 - rowsOf(drawn, columns);
    const from = lines.findLastIndex((line) => {
      left -= rowsOf([line], columns);
      return left < 0;
    });
    return lines.slice(from + 1);
  };
  const write = (maxRows: number | undefined, before: string, after: string): Promise<boolean> => {
    const { columns, rows } = size();
    const lines = draw({ columns, maxRows });
    const old = again(columns, rows);
    const above = [...old, ...waiting];
    const taken = rowsOf([...old, ...drawn], columns);
    const erase = taken === 0 ? "" : `\u001b[${taken}A\u001b[0J`;
    const done = output.write(
      `${before}${erase}${textOf(above)}${NO_WRAP}${textOf(lines)}${WRAP}${after}`,
    );
    recent = [...(old.length > 0 ? [old] : recent), waiting].slice(-LATE_FRAMES);
    drawn = lines;
    drawnFor = columns;
    waiting = [];
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
      waiting.push(...line.split("\n"));
      schedule();
    },
    async ready() {
      if (waiting.length < MAX_WAITING) return;
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
