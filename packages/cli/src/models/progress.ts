/** How far a job on models is: a bar on a terminal, a line now and then elsewhere. */
import type { ChannelMap } from "@millrace/contracts";
import type { CommandIo } from "../command.ts";
import { clipLine, pad } from "../render/cells.ts";
import { createScreen } from "../render/screen.ts";
import { createStyle, type Style } from "../render/style.ts";
import { formatBytes } from "../render/table.ts";
import { clean } from "../render/text.ts";

/** What travels on `models:install_progress`. */
export type Progress = ChannelMap["models:install_progress"];

/** Shows a job; `end` leaves the last state standing. */
export interface ProgressDisplay {
  show(progress: Progress): void;
  end(): Promise<void>;
}

const BAR_CELLS = 24;
const STAGE_CELLS = 9;
/** Off a terminal a stage is told when it begins, and after each such part of it. */
const STEP_PERCENT = 10;

/** A bar where stderr is a terminal that draws, lines elsewhere, nothing under `--json` and `--quiet`. */
export function createProgress(io: CommandIo): ProgressDisplay {
  if (io.json !== undefined || io.verbosity === "quiet") return { show() {}, async end() {} };
  const style = createStyle(io.colour, io.env);
  if (!io.isTTY.stderr || io.env.TERM === "dumb") return lines(io, style);
  let last: Progress | undefined;
  const screen = createScreen(io, io.err, ({ columns }) =>
    last === undefined ? [] : [progressLine(last, { style, columns })],
  );
  return {
    show(progress) {
      last = progress;
      screen.touch();
    },
    end: () => screen.end(),
  };
}

function lines(io: CommandIo, style: Style): ProgressDisplay {
  let told = "";
  return {
    show(progress) {
      const isCount = progress.total > 1;
      const step = isCount ? Math.floor((percentOf(progress) ?? 0) / STEP_PERCENT) : 0;
      const place = `${progress.stage} ${step}`;
      if (place === told) return;
      told = place;
      void io.err.write(`${progressLine(progress, { style })}\n`);
    },
    async end() {},
  };
}

/** `download   ━━━━━━━━────────  42%  1.0 GiB of 2.3 GiB  qwen3-4b:q4_k_m`. */
function progressLine(
  progress: Progress,
  {
    style,
    columns = Number.MAX_SAFE_INTEGER,
  }: { readonly style: Style; readonly columns?: number },
): string {
  const { stage, current, total, message } = progress;
  const percent = percentOf(progress);
  const isCount = total > 1 || current > 1;
  const size =
    total > 0 ? `${formatBytes(current)} of ${formatBytes(total)}` : formatBytes(current);
  const done = Math.round((BAR_CELLS * (percent ?? 0)) / 100);
  const spans = [
    { text: pad(clean(stage), STAGE_CELLS) },
    ...(percent === undefined || !isCount
      ? []
      : [
          { text: `  ${"━".repeat(done)}`, paint: style.good },
          { text: "─".repeat(BAR_CELLS - done), paint: style.dim },
          { text: ` ${String(percent).padStart(3)}%` },
        ]),
    ...(isCount ? [{ text: `  ${size}` }] : []),
    { text: `  ${clean(message)}` },
  ];
  return clipLine(spans, columns);
}

function percentOf({ current, total }: Progress): number | undefined {
  return total > 0 ? Math.floor((100 * current) / total) : undefined;
}
