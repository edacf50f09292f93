/** `--events`: the lines of a run in a file, beside any display. */

import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { type ExecutionEvent, ndjson } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";
import { cannotWrite, reason } from "../errors.ts";
import { clean } from "../output/text.ts";

export interface EventFile {
  write(events: readonly ExecutionEvent[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file, which is emptied. Throws a usage error when it cannot be written. */
export async function openEvents(
  file: string | undefined,
  io: CommandIo,
): Promise<EventFile | undefined> {
  if (file === undefined) return undefined;
  const handle = await open(resolve(io.cwd, file), "w").catch((error: unknown) => {
    throw cannotWrite(file, error);
  });
  let broken = false;
  return {
    async write(events) {
      if (broken) return;
      await handle.appendFile(events.map((event) => ndjson.line(event)).join("")).catch((error) => {
        // The run is what counts: a full disk beside it is no reason to end it.
        broken = true;
        return io.err.write(`warning: ${clean(file)} is not complete: ${reason(error)}\n`);
      });
    },
    close: () => handle.close(),
  };
}
