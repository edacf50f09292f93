/**
 * A job on models, followed to its end.
 *   J1  The stream is open before the job begins: no frame of it is missed.
 *   J2  What is followed is cancelled when the person gives up, and nothing else is.
 */

import type { ChannelMap, Job, JobRef, ModelsFrame } from "@millrace/contracts";
import type { Api } from "../../api/api.ts";
import type { CommandIo } from "../../argv/spec.ts";
import { CliError } from "../../errors.ts";
import { clipLine, pad } from "../../output/cells.ts";
import { createScreen } from "../../output/screen.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatBytes } from "../../output/table.ts";
import { clean } from "../../output/text.ts";
import { JOB_CODES } from "../explain/codes.ts";

/** Whoever gives up does not wait for the answer for long; the process itself ends before that. */
const CANCEL_MS = 5_000;
/** Failures that say something of what was fetched, and not of what is missing here. */
const NEGATIVE: ReadonlySet<string> = new Set([
  "digest_mismatch",
  "invalid_model",
  "engine_digest_mismatch",
]);

/** Starts a job and resolves when it is done; every frame of it goes to stdout under `--json`, else to a bar on stderr. */
export async function followJob(
  api: Api,
  io: CommandIo,
  job: { readonly about: string; readonly start: () => Promise<JobRef> },
): Promise<void> {
  const stop = new AbortController();
  const frames = await api.modelFrames(AbortSignal.any([io.signal, stop.signal]));
  const display = createProgress(io);
  let ref: JobRef | undefined;
  try {
    ref = await job.start();
    for await (const frame of frames) {
      if (!concerns(frame, job.about, ref)) continue;
      await io.json?.result(frame);
      if (frame.channel !== "models:install_progress") continue;
      display.show(frame.payload);
      if (frame.payload.stage === "error") {
        const failed = await api.invoke("get_model_job", ref).catch(() => undefined);
        throw failureOf(frame.payload, job.about, failed);
      }
      if (isEnd(frame.payload, job.about)) return;
    }
    throw new CliError("unavailable", `nothing more is heard of ${job.about}`, {
      hint: "millrace models list says how it stands",
    });
  } catch (error) {
    if (io.signal.aborted && ref !== undefined) {
      await api
        .invoke("cancel_model_job", ref, { signal: AbortSignal.timeout(CANCEL_MS) })
        .catch(() => {});
    }
    throw error;
  } finally {
    await display.end();
    stop.abort();
  }
}

/** Whether a frame is of the job. A server may be one that names no job: a message begins with the id that the job is about. */
function concerns(frame: ModelsFrame, about: string, ref: JobRef): boolean {
  if (frame.channel === "models:registered") return frame.payload === about;
  if (frame.channel !== "models:install_progress") return false;
  const { jobId, message } = frame.payload;
  if (jobId !== undefined) return jobId === ref.jobId;
  return message === about || message.startsWith(`${about}: `);
}

/** Whether the job is done. Throws for one that was cancelled. */
function isEnd({ stage }: Progress, about: string): boolean {
  if (stage === "cancelled") throw new CliError("cancelled", `${about} was cancelled`);
  return stage === "done";
}

/** The end of a job that failed: code, sentence, and what to do next. A frame has the code alone, the job the sentence. */
function failureOf({ message }: Progress, about: string, job: Job | undefined): CliError {
  const code = message.slice(about.length + 2);
  const hint = Object.hasOwn(JOB_CODES, code) ? JOB_CODES[code] : undefined;
  const said = [about, clean(code) || "it failed", clean(job?.error?.message ?? "")];
  return new CliError(
    NEGATIVE.has(code) ? "check_failed" : "unavailable",
    said.filter((part) => part !== "").join(": "),
    { hint },
  );
}

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
function createProgress(io: CommandIo): ProgressDisplay {
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
