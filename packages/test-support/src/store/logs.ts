/** Legal logs, as the engine would write them. */
import {
  type EncodedEvent,
  type Journal,
  type RunHeader,
  serialiseEvent,
} from "@millrace/contracts";
import { legalLog } from "../logs/index.ts";

export function startRun(seed: number, more: Partial<RunHeader> = {}): RunHeader {
  const planDigest = `sha256:${"ab".repeat(32)}`;
  const { graph } = legalLog(seed);
  return { runId: `r${seed}`, planDigest, graph, inputs: {}, trigger: "embed", ...more };
}

export function logOf(seed: number): EncodedEvent[] {
  return legalLog(seed).events.map((event) => ({
    seq: event.seq,
    kind: event.kind,
    line: new TextEncoder().encode(serialiseEvent(event)),
    event,
  }));
}

export async function appendAll(
  journal: Journal,
  log: readonly EncodedEvent[],
  more: Partial<RunHeader> = {},
): Promise<void> {
  const runId = log[0]?.event.runId ?? "";
  const { epoch } = await journal.create(startRun(Number(runId.slice(1)), more));
  await journal.append(runId, 0, log, { epoch, sync: true });
}

export async function linesOf(journal: Journal, runId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of journal.read(runId, 0)) {
    lines.push(...page.map(({ line }) => new TextDecoder().decode(line)));
  }
  return lines;
}
