/** Lists of runs, what a run says, and runs that go. */
import type { RunQuery, StoredEvent } from "@millrace/contracts";
import { checkLog, parseEvent } from "@millrace/contracts";
import { type Store, StoreError } from "@millrace/store";
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { appendAll, linesOf, logOf, startRun } from "./logs.ts";
import { linesOfText } from "./long-log.ts";

export function runsSuite({ newStore }: StoreBench): void {
  const BEGIN = Date.parse("2026-03-01T00:00:00.000Z");

  /** Runs r1 to r<count>, two of them at each second, all ended. */
  async function storeOf(count: number): Promise<Store> {
    let time = BEGIN;
    const store = await newStore({ now: () => time });
    for (let seed = 1; seed <= count; seed += 1) {
      time = BEGIN + Math.floor((seed - 1) / 2) * 1_000;
      const tags = { parity: seed % 2 === 0 ? "even" : "odd", seed: String(seed) };
      await appendAll(store.journal, logOf(seed), {
        tags,
        trigger: seed % 3 === 0 ? "cli" : "api",
      });
    }
    return store;
  }

  async function walk(store: Store, query: RunQuery): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 100; pages += 1) {
      const page = await store.runs.list(cursor === null ? query : { ...query, cursor });
      expect(page.items.length).toBeLessThanOrEqual(query.limit);
      ids.push(...page.items.map(({ runId }) => runId));
      cursor = page.nextCursor;
      if (cursor === null) return ids;
    }
    throw new Error("the list has no end");
  }

  const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  describe("the list of runs", () => {
    test("is newest first, and the same in pages of any size", async () => {
      const store = await storeOf(15);
      const wanted = range(15)
        .reverse()
        .map((seed) => `r${seed}`);
      for (const limit of [1, 2, 7, 15, 16, 200])
        expect(await walk(store, { limit })).toEqual(wanted);
    });

    test("has a text with NUL to its end, and finds it", async () => {
      const store = await newStore();
      await appendAll(store.journal, logOf(1), { tags: { team: "a\0b" } });
      await appendAll(store.journal, logOf(2), { tags: { team: "a" } });
      const { items } = await store.runs.list({ limit: 9, tags: { team: "a\0b" } });
      expect(items.map(({ runId, tags }) => [runId, tags])).toEqual([["r1", { team: "a␀b" }]]);
    });

    test("takes what fits the filter", async () => {
      const store = await storeOf(12);
      await store.journal.create(startRun(13));
      const ids = (query: Omit<RunQuery, "limit">) => walk(store, { ...query, limit: 2 });
      expect(await ids({ tags: { parity: "even" } })).toEqual([
        "r12",
        "r10",
        "r8",
        "r6",
        "r4",
        "r2",
      ]);
      expect(await ids({ tags: { parity: "even", seed: "4" } })).toEqual(["r4"]);
      expect(await ids({ trigger: "cli" })).toEqual(["r12", "r9", "r6", "r3"]);
      expect(await ids({ status: ["pending"] })).toEqual(["r13"]);
      expect(await ids({ since: "2026-03-01T00:00:01Z", until: "2026-03-01T00:00:02Z" })).toEqual([
        "r6",
        "r5",
        "r4",
        "r3",
      ]);
      expect(await ids({ template: "nothing" })).toEqual([]);
      const states = ["succeeded", "failed", "cancelled"] as const;
      const ended = await Promise.all(states.map((state) => ids({ status: [state] })));
      expect(ended.flat().sort()).toEqual(
        range(12)
          .map((seed) => `r${seed}`)
          .sort(),
      );
    });

    test("a cursor that was changed, made up, or is of another filter is refused", async () => {
      const store = await storeOf(5);
      const cursor = (await store.runs.list({ limit: 2 })).nextCursor ?? "";
      const bad = [
        "",
        "x",
        "a.b",
        `${cursor}x`,
        `x${cursor}`,
        cursor.replace(".", ".."),
        "x".repeat(5_000),
      ];
      for (const each of bad) {
        await expect(store.runs.list({ limit: 2, cursor: each })).rejects.toThrow(StoreError);
        await expect(store.runs.list({ limit: 2, cursor: each })).rejects.toThrow(/cursor/);
      }
      await expect(store.runs.list({ limit: 2, cursor, trigger: "api" })).rejects.toThrow(/cursor/);
      const other = await storeOf(5);
      await expect(other.runs.list({ limit: 2, cursor })).rejects.toThrow(/cursor/);
      for (const limit of [0, 201, 1.5])
        await expect(store.runs.list({ limit })).rejects.toThrow(RangeError);
    });
  });

  describe("a run", () => {
    test("says what its log says", async () => {
      const store = await storeOf(20);
      for (const seed of range(20)) {
        const run = await store.runs.get(`r${seed}`);
        const log = (await linesOf(store.journal, `r${seed}`)).map((line) => parseEvent(line));
        expect(checkLog(log)).toEqual([]);
        const end = log.at(-1) as Extract<
          ReturnType<typeof logOf>[number]["event"],
          { kind: "summary" }
        >;
        expect(run).toMatchObject({
          status: end.status,
          lastSeq: end.seq,
          startedAt: new Date(log[0]?.ts ?? 0).toISOString(),
          endedAt: new Date(end.ts).toISOString(),
          summary: { counts: end.counts, exitCode: end.exitCode },
          flow: { hash: `sha256:${"0f".repeat(32)}` },
        });
        const asked = log.filter(({ kind }) => kind === "confirm.requested") as { id: string }[];
        expect(run?.confirmations.map(({ id }) => id).sort()).toEqual(
          asked.map(({ id }) => id).sort(),
        );
        for (const event of log) {
          if (event.kind !== "confirm.resolved" || !("outcome" in event)) continue;
          const { id, outcome } = event as { id: string; outcome: string };
          expect(run?.confirmations.find((each) => each.id === id)?.status).toBe(outcome);
        }
      }
      expect(await store.runs.get("nobody")).toBeNull();
    });

    test("has at every moment the state that its log has then", async () => {
      const states: Record<string, string> = {
        "run.started": "running",
        "run.paused": "paused",
        "run.resumed": "running",
        "run.cancelling": "cancelling",
      };
      const store = await newStore();
      for (const seed of [3, 5, 8]) {
        const { epoch } = await store.journal.create(startRun(seed));
        let state = "pending";
        expect(await store.runs.live()).toEqual([`r${seed}`]);
        for (const [index, event] of logOf(seed).slice(0, -1).entries()) {
          await store.journal.append(`r${seed}`, index, [event], { epoch, sync: true });
          state = states[event.kind] ?? state;
          expect((await store.runs.list({ limit: 1 })).items[0]).toMatchObject({
            status: state,
            lastSeq: index + 1,
          });
        }
        const log = logOf(seed);
        await store.journal.append(`r${seed}`, log.length - 1, log.slice(-1), {
          epoch,
          sync: true,
        });
        expect(await store.runs.live()).toEqual([]);
      }
    });

    test("with large events is read in pages of 4 MiB, or of one event that is larger", async () => {
      const { journal } = await newStore();
      const { epoch } = await journal.create(startRun(1));
      const large = new Map([3, 4, 5, 7, 8].map((seq) => [seq, seq === 5 ? 5e6 : 15e5]));
      const log = linesOfText("r1", 9).map((event) => ({
        ...event,
        line: new Uint8Array(large.get(event.seq) ?? event.line.length).fill(32),
      }));
      for (const at of log.keys()) {
        await journal.append("r1", at, log.slice(at, at + 1), { epoch, sync: true });
      }
      const pages: (readonly StoredEvent[])[] = [];
      for await (const page of journal.read("r1", 0)) pages.push(page);
      expect(pages.map((page) => page.map(({ seq }) => seq))).toEqual([
        [1, 2, 3, 4],
        [5],
        [6, 7, 8, 9],
      ]);
      const sizes = pages.flat().map(({ line }) => line.byteLength);
      expect(sizes).toEqual(log.map(({ line }) => line.byteLength));
    });

    test("a question that was answered is not answered again", async () => {
      const store = await newStore();
      const seed =
        range(100).find((each) => logOf(each).some(({ kind }) => kind === "confirm.resolved")) ?? 0;
      const log = logOf(seed);
      const at = log.findIndex(({ kind }) => kind === "confirm.resolved");
      const { epoch } = await store.journal.create(startRun(seed));
      await store.journal.append(`r${seed}`, 0, log.slice(0, at + 1), { epoch, sync: true });
      const answer = log[at];
      if (answer === undefined) throw new Error("no log with an answer");
      const again = { ...answer, seq: at + 2, event: { ...answer.event, seq: at + 2 } };
      const append = store.journal.append(`r${seed}`, at + 1, [again], { epoch, sync: true });
      await expect(append).rejects.toMatchObject({ code: "lease_lost" });
      expect(await linesOf(store.journal, `r${seed}`)).toHaveLength(at + 1);
    });

    test("names the version of the template whose graph it runs", async () => {
      const store = await newStore();
      const { graph } = startRun(1);
      const template = {
        slug: "digest",
        name: "Digest",
        description: "",
        tags: [],
        source: { kind: "local" },
        digest: `sha256:${"1".repeat(64)}`,
        dsl: "flow",
        graph,
      } as const;
      await store.templates.save(template, null);
      await store.journal.create(startRun(1, { template: "digest" }));
      await store.journal.create(startRun(2, { template: "digest" }));
      expect((await store.runs.get("r1"))?.template).toEqual({ slug: "digest", version: 1 });
      expect((await store.runs.get("r2"))?.template).toBeNull();
    });
  });

  describe("deleting", () => {
    test("takes an ended run with all that is its own, and leaves what others share", async () => {
      const store = await newStore();
      const large = "x".repeat(100_000);
      for (const runId of ["r1", "r2"]) {
        await store.journal.create(startRun(1, { runId, tags: { a: "b" } }));
        await store.journal.putValue(runId, "large", large);
      }
      const lease = (await store.journal.load("r1")) && (await store.journal.create(startRun(3)));
      expect(lease).not.toBeNull();
      expect(await store.runs.delete("r1")).toBe("live");
      expect(await store.runs.delete("nobody")).toBe("absent");
      await appendAll(store.journal, logOf(4));
      const ref = await store.journal.putValue("r4", "large", large);
      expect(await store.runs.delete("r4")).toBe("deleted");
      expect(await store.journal.load("r4")).toBeNull();
      expect(await store.journal.getValue("r2", ref)).toBe(large);
      await expect(
        store.journal.append("r4", 0, logOf(4), { epoch: 1, sync: true }),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^(not_found|lease_lost)$/),
      });
      await appendAll(store.journal, logOf(4));
      expect(await linesOf(store.journal, "r4")).toHaveLength(logOf(4).length);
    });

    test("pruning takes the ended runs that fit, and never a live one", async () => {
      const store = await storeOf(10);
      await store.journal.create(startRun(11));
      const failed = (await walk(store, { limit: 50, status: ["failed"] })).length;
      expect(await store.runs.prune({ status: ["failed"] })).toEqual({ deleted: failed });
      expect(await store.runs.prune({ before: "1999-01-01T00:00:00Z" })).toEqual({ deleted: 0 });
      expect(await store.runs.prune({})).toEqual({ deleted: 10 - failed });
      expect(await walk(store, { limit: 50 })).toEqual(["r11"]);
      await expect(store.runs.prune({ before: "yesterday" })).rejects.toThrow(RangeError);
    });
  });

  describe("a run that is begun", () => {
    test("takes events before its row is stored, and both are there after", async () => {
      const store = await newStore();
      const log = logOf(1);
      const { epoch, stored } = store.journal.begin(startRun(1, { tags: { team: "a" } }));
      const half = Math.floor(log.length / 2);
      const appended = [
        store.journal.append("r1", 0, log.slice(0, half), { epoch, sync: true }),
        store.journal.append("r1", half, log.slice(half), { epoch, sync: true }),
      ];
      await Promise.all([stored, ...appended]);
      expect(await linesOf(store.journal, "r1")).toHaveLength(log.length);
      expect((await store.runs.list({ limit: 1, tags: { team: "a" } })).items[0]?.runId).toBe("r1");
    });

    test("is refused with all that was appended to it when its id is taken", async () => {
      const store = await newStore();
      await appendAll(store.journal, logOf(1));
      const { epoch, stored } = store.journal.begin(startRun(1));
      const appended = store.journal.append("r1", 0, logOf(1), { epoch, sync: true });
      await Promise.all([
        expect(stored).rejects.toMatchObject({ code: "run_exists" }),
        expect(appended).rejects.toMatchObject({ code: "lease_lost" }),
      ]);
      expect(await linesOf(store.journal, "r1")).toHaveLength(logOf(1).length);
    });
  });
}
