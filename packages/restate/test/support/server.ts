/**
 * A server of these tests, in a process of its own that may be killed. Its drives do nothing but append to a file of all servers:
 * one line for the begin of a drive, one for its end, or one when it was left.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Again } from "@millrace/contracts";
import { createRestateDispatcher } from "@millrace/restate";
import { HELD, type ServerOrders } from "./orders.ts";

const STEPS = 12;
const STEP_MS = 50;

/** Serves until the process is killed; says so on standard output. */
export async function serveDiary({ options, diary }: ServerOrders): Promise<void> {
  const tell = (runId: string, what: string) => {
    const file = openSync(diary, "a");
    writeSync(file, `${runId} ${what} ${process.pid}\n`);
    closeSync(file);
  };
  const isFirst = (runId: string) => {
    const lines = readFileSync(diary, "utf8").split("\n");
    return lines.filter((line) => line.startsWith(`${runId} begins`)).length === 1;
  };
  await createRestateDispatcher(options).serve(async (runId, { signal, lost }) => {
    tell(runId, "begins");
    const isHeld = runId.startsWith(HELD) && isFirst(runId);
    const stop = AbortSignal.any([signal, lost] as AbortSignal[]);
    try {
      for (let step = 0; step < STEPS || isHeld; step += 1) {
        await sleep(STEP_MS, undefined, { signal: stop });
      }
    } catch {
      tell(runId, "left");
      throw new Again();
    }
    tell(runId, "ends");
    return "done";
  });
  process.stdout.write("serves\n");
}
