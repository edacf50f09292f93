/** The journal in memory: leases, values and steps. */
import { createMemoryJournal } from "@millrace/engine";
import { graphWith } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";

describe("the memory journal", () => {
  const header = {
    runId: "r1",
    planDigest: "sha256:0",
    graph: graphWith({
      id: "f",
      nodes: [],
    }),
    inputs: {},
    trigger: "embed",
  };
  const line = (seq: number) => ({ seq, kind: "log", line: new Uint8Array(), event: {} as never });

  test("takes events at the expected seq from the owner alone", async () => {
    const journal = createMemoryJournal();
    const { epoch } = await journal.create(header);
    await journal.append("r1", 0, [line(1), line(2)], { epoch, sync: true });
    await expect(journal.append("r1", 1, [line(2)], { epoch, sync: true })).rejects.toMatchObject({
      code: "lease_lost",
    });
    await expect(
      journal.append("r1", 2, [line(3)], { epoch: epoch + 1, sync: true }),
    ).rejects.toMatchObject({ code: "lease_lost" });
    await expect(journal.create(header)).rejects.toMatchObject({ code: "run_exists" });
  });

  test("gives a lease only when the owner has let go or its time is over", async () => {
    let now = 0;
    const journal = createMemoryJournal({ now: () => now });
    const { epoch } = await journal.create(header);
    expect(await journal.lease("r1", "other", 100)).toBeNull();
    await journal.release("r1", epoch);
    const leased = await journal.lease("r1", "other", 100);
    expect(leased).toEqual({ epoch: epoch + 1 });
    expect(await journal.lease("r1", "third", 100)).toBeNull();
    now = 100;
    expect(await journal.lease("r1", "third", 100)).toEqual({ epoch: epoch + 2 });
  });

  test("keeps values by reference and steps by key", async () => {
    const journal = createMemoryJournal();
    await journal.create(header);
    const ref = await journal.putValue("r1", "a#1#k", { n: 1 });
    expect(await journal.getValue("r1", ref)).toEqual({ n: 1 });
    await journal.putValue("r1", "out", "secret", { private: true });
    expect(await journal.load("r1")).toMatchObject({
      runId: "r1",
      steps: { "a#1#k": { n: 1 } },
      privateValues: { out: "secret" },
    });
    expect(await journal.load("r2")).toBeNull();
  });
});
