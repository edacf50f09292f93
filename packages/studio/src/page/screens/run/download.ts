/** The log of a run as a file: the lines of the server, byte for byte. */
import { type ExecutionEvent, ndjson } from "@millrace/contracts";
import { saveText } from "../../parts/clipboard.ts";

/** Reads the whole log and offers it as `<runId>.ndjson`. */
export async function downloadLog(
  runId: string,
  last: number,
  page: (after: number) => Promise<readonly ExecutionEvent[]>,
): Promise<void> {
  const lines: string[] = [];
  for (let after = 0; after < last; ) {
    const events = await page(after);
    const end = events.at(-1);
    if (end === undefined) break;
    lines.push(events.map((event) => ndjson.line(event)).join(""));
    after = end.seq;
  }
  saveText(`${runId}.ndjson`, lines.join(""), "application/x-ndjson");
}
