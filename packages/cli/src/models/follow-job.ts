/**
 * A job on models, followed to its end. Frames name no job: their message begins with the id that the job is about, so that
 * id must be known beforehand.
 *   J1  The stream is open before the job begins: no frame of it is missed.
 *   J2  What is followed is cancelled when the person gives up, and nothing else is.
 */
import type { Job, JobRef, ModelsFrame } from "@millrace/contracts";
import type { Api } from "../api/api.ts";
import type { CommandIo } from "../command.ts";
import { CliError } from "../errors.ts";
import { clean } from "../render/text.ts";
import { JOB_CODES } from "./job-codes.ts";
import { createProgress, type Progress } from "./progress.ts";

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
      if (!concerns(frame, job.about)) continue;
      await io.json?.result(frame);
      if (frame.channel !== "models:install_progress") continue;
      display.show(frame.payload);
      if (frame.payload.stage === "error") {
        throw failureOf(frame.payload, job.about, await api.modelJob?.(ref.jobId));
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

function concerns(frame: ModelsFrame, about: string): boolean {
  if (frame.channel === "models:registered") return frame.payload === about;
  if (frame.channel !== "models:install_progress") return false;
  const { message } = frame.payload;
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
  const meaning = Object.hasOwn(JOB_CODES, code) ? JOB_CODES[code] : undefined;
  const said = [about, clean(code) || "it failed", clean(job?.error?.message ?? "")];
  return new CliError(
    NEGATIVE.has(code) ? "check_failed" : "unavailable",
    said.filter((part) => part !== "").join(": "),
    meaning === undefined ? {} : { hint: meaning },
  );
}
