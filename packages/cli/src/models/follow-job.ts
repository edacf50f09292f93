/**
 * A job on models, followed to its end. Frames name no job: their message begins with the id that the job is about, so that
 * id must be known beforehand.
 *   J1  The stream is open before the job begins: no frame of it is missed.
 *   J2  What is followed is cancelled when the person gives up, and nothing else is.
 */
import type { JobRef, ModelsFrame } from "@millrace/contracts";
import type { Api } from "../api/open-api.ts";
import type { CommandIo } from "../command.ts";
import { CliError } from "../errors.ts";
import { clean } from "../render/text.ts";
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

/** Whether that was the last word. Throws for an end that is not `done`. */
function isEnd({ stage, message }: Progress, about: string): boolean {
  if (stage === "done") return true;
  if (stage === "cancelled") throw new CliError("cancelled", `${about} was cancelled`);
  if (stage !== "error") return false;
  const code = message.slice(about.length + 2);
  throw new CliError(
    NEGATIVE.has(code) ? "check_failed" : "unavailable",
    `${about}: ${clean(code) || "it failed"}`,
  );
}
