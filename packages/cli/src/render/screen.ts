/** Redraws a block of lines in place, at most twelve times a second, and leaves the last one standing. */
import type { CliIo, Output } from "../io.ts";

const FRAME_MS = 1_000 / 12; // faster is not seen, slower is
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Lines left to the shell above and below the block. */
const SPARE_ROWS = 4;

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/** What is drawn: lines for a terminal of this size. */
export type Draw = (size: { columns: number; maxRows: number | undefined }) => string[];

export interface Screen {
  /** Something changed; a frame follows soon. */
  touch(): void;
  /** Writes a line above the block. */
  above(line: string): void;
  /** Draws the block once more, in full, and gives the terminal back. */
  end(): void;
}

/** A screen on stderr. */
export function createScreen(io: CliIo, output: Output, draw: Draw): Screen {
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const size = (): { columns: number; rows: number } => {
    const { columns, rows } = io.size();
    return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
  };
  const erase = (): string => (drawn === 0 ? "" : `\u001b[${drawn}A\u001b[0J`);
  const paint = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  const frame = (above = ""): void => {
    const { columns, rows } = size();
    const lines = draw({ columns, maxRows: Math.max(2, rows - SPARE_ROWS) });
    void output.write(`${HIDE_CURSOR}${erase()}${above}${paint(lines)}`);
    drawn = lines.length;
    schedule();
  };
  // The clock on the screen moves even when nothing happens.
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      frame();
    }, FRAME_MS);
    timer.unref();
  };

  return {
    touch: schedule,
    above(line) {
      if (!ended) frame(`${line}\n`);
    },
    end() {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      const lines = draw({ columns: size().columns, maxRows: undefined });
      void output.write(`${erase()}${paint(lines)}${SHOW_CURSOR}`);
    },
  };
}
