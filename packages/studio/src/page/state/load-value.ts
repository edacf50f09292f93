/** Reads a value that is kept beside the log of a run. */
import type { Json, ValueRef } from "@millrace/contracts";
import { backend } from "../backend.ts";

/** The whole value of a reference. */
export async function loadValue(runId: string, { ref }: ValueRef): Promise<Json> {
  const { base64 } = await backend.invoke("get_run_blob", { runId, digest: ref });
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}
