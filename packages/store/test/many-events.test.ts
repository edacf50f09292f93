/** Many events that are written at once, which take another way to the file than few. */
import type { EncodedEvent, StoredEvent } from "@millrace/contracts";
import { startRun } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { newStore } from "./new-store.ts";

const KINDS = ["log", "node.progress", "x y", "größe", "a.kind.of.more.than.24.letters", "ends "];

/** A hundred events; every `rare`-th has a kind that a reader of this version does not know. */
function eventsOf(runId: string, rare: number): EncodedEvent[] {
  return Array.from({ length: 100 }, (_, n) => {
    const kind = KINDS[n % rare === 0 ? n % KINDS.length : 0] as string;
    const event = { v: 1, kind, runId, seq: n + 1, ts: n, text: "é".repeat(n) };
    const line = new TextEncoder().encode(JSON.stringify(event));
    return { seq: n + 1, kind, line, event } as unknown as EncodedEvent;
  });
}

test("all of many events are read as they were written", async () => {
  const { journal } = await newStore();
  const logs = [1_000, 3, 7].map((rare, seed) => eventsOf(`r${seed}`, rare));
  const epochs = await Promise.all(logs.map((_, seed) => journal.create(startRun(seed))));
  await Promise.all(
    logs.map((log, seed) =>
      journal.append(`r${seed}`, 0, log, { epoch: epochs[seed]?.epoch ?? 0, sync: true }),
    ),
  );
  for (const [seed, log] of logs.entries()) {
    const read: StoredEvent[] = [];
    for await (const page of journal.read(`r${seed}`, 0)) read.push(...page);
    expect(read.map(partsOf)).toEqual(log.map(partsOf));
  }
});

const partsOf = ({ seq, kind, line }: StoredEvent) => ({ seq, kind, line: Buffer.from(line) });
