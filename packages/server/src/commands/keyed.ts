/** Commands that take an idempotency key and answer a resource. */
import type { CommandName, RunRef, StartRows } from "@millrace/contracts";
import type { CommandCall } from "../ports.ts";
import { Answer } from "./command.ts";
import { REPLAYED } from "./idempotency.ts";

/** Does `work` once for each key of the caller; a later call with the key gets the same answer, marked as such. */
export async function keyed<T>(
  call: CommandCall,
  command: CommandName,
  args: object,
  work: () => Promise<T>,
): Promise<Answer<T>> {
  const { value, replayed } = await call.app.keys.run(
    { tokenId: call.caller.tokenId, command, key: call.key, args, joins: false },
    work,
  );
  return new Answer(value, replayed ? { headers: REPLAYED } : {});
}

/** The same for a command that starts a run: `start` hands the rows on to the executor, which commits the key with the run. */
export async function keyedStart(
  call: CommandCall,
  command: CommandName,
  args: object,
  start: (rows: StartRows) => Promise<RunRef>,
): Promise<Answer<RunRef>> {
  const { value, replayed } = await call.app.keys.run(
    { tokenId: call.caller.tokenId, command, key: call.key, args, joins: true },
    start,
  );
  return new Answer(value, replayed ? { headers: REPLAYED } : {});
}
