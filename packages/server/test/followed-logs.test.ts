import type { EncodedEvent, StoredEvent } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { expect, test } from "vitest";
import { FollowedLogs } from "../src/executor/followed-logs.ts";

const eventOf = (seq: number, kind: string): EncodedEvent =>
  ({ seq, kind, line: Buffer.from(`${seq}`), event: {} }) as unknown as EncodedEvent;

/** A run that another server drives: what is stored of it, and what this one has heard. */
function elsewhere() {
  const row = { lastSeq: 2, endedAt: null as string | null };
  let hear: (events: readonly EncodedEvent[]) => void = () => {};
  const store = {
    runs: { summary: async () => row },
    journal: {
      async *read(_runId: string, after: number) {
        const stored = [eventOf(1, "run.started"), eventOf(2, "node.started")];
        yield stored.slice(after);
      },
      follow(_runId: string, _after: number, told: typeof hear) {
        hear = told;
        return () => {};
      },
    },
  } as unknown as Pick<Store, "journal" | "runs">;
  return { row, logs: new FollowedLogs(store), hear: (one: EncodedEvent) => hear([one]) };
}

async function readAll(pages: AsyncIterable<readonly StoredEvent[]>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const page of pages) seqs.push(...page.map(({ seq }) => seq));
  return seqs;
}

test("readers get the end of a log that ended elsewhere before this server has heard of it", async () => {
  const { row, logs, hear } = elsewhere();
  const early = await logs.open("r");
  const reading = readAll(early.log.read(0));
  Object.assign(row, { lastSeq: 3, endedAt: "2030-01-01T00:00:00Z" });
  const late = await logs.open("r");
  const readingLate = readAll(late.log.read(0));
  await new Promise(setImmediate); // both have read what there is
  hear(eventOf(3, "summary"));
  expect(await reading).toEqual([1, 2, 3]);
  expect(await readingLate).toEqual([1, 2, 3]);
});
