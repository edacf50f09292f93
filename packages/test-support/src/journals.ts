/** What every journal does alike, as cases that any test runner can run. */
import assert from "node:assert/strict";
import {
  checkLog,
  type EncodedEvent,
  type Journal,
  parseEventStrict,
  type RunHeader,
  serialiseEvent,
  withholdContent,
} from "@millrace/contracts";
import type { ConformanceCase } from "@millrace/testkit";
import { legalLog } from "./logs/index.ts";

/** A journal of a case, and what it holds on to. */
export interface JournalUnderTest {
  readonly journal: Journal;
  close?(): Promise<void>;
}

interface Bench {
  readonly journal: Journal;
  /** Moves the clock by which leases run out, in milliseconds. */
  advance(ms: number): void;
}

const BEGIN = 1_750_000_000_000;
const LOGS = 30;
const LARGE = 200_000; // characters: beyond what any journal keeps beside its rows
const CONTENDERS = 20;
const TOGETHER = 70; // runs whose appends come in one turn

/** The cases; each makes a journal of its own. `now` is the clock that the journal must judge leases by. */
export function journalConformance(
  makeJournal: (options: { readonly now: () => number }) => Promise<JournalUnderTest>,
): readonly ConformanceCase[] {
  return CASES.map(([name, body]) => ({
    name,
    async run() {
      let time = BEGIN;
      const made = await makeJournal({ now: () => time });
      try {
        await body({
          journal: made.journal,
          advance(ms) {
            time += ms;
          },
        });
      } finally {
        await made.close?.();
      }
    },
  }));
}

const CASES: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    "a run is created once, and its header comes back as it was",
    async ({ journal }) => {
      const header = headerOf(1, { tags: { team: "a", stage: "test" }, template: "digest" });
      await journal.create(header);
      await refused(journal.create(header), "run_exists");
      const { events, steps, privateValues, ...rest } = (await journal.load(header.runId)) ?? {};
      assert.deepEqual(rest, header);
      assert.deepEqual(
        { events, steps, privateValues },
        { events: [], steps: {}, privateValues: {} },
      );
    },
  ],
  [
    "a run that is not there: load gives null, the other calls are refused",
    async ({ journal }) => {
      assert.equal(await journal.load("nobody"), null);
      await refused(journal.append("nobody", 0, [], { epoch: 1, sync: true }), "not_found");
      await refused(journal.putValue("nobody", "k", 1), "not_found");
      await refused(journal.getValue("nobody", "sha256:0"), "not_found");
      await refused(journal.lease("nobody", "a", 1), "not_found");
      await refused(journal.release("nobody", 1), "not_found");
      await refused(linesOf(journal, "nobody", 0), "not_found");
    },
  ],
  [
    "logs come back byte for byte, in order, from any position, and are legal; what is withheld is so from the end on",
    async ({ journal }) => {
      for (let seed = 1; seed <= LOGS; seed += 1) {
        const { epoch } = await journal.create(headerOf(seed));
        const log = logOf(seed);
        let stored = 0;
        for (const size of [1, 2, 7, 50, Number.POSITIVE_INFINITY]) {
          const batch = log.slice(stored, Math.min(stored + size, log.length - 1));
          await journal.append(`r${seed}`, stored, batch, { epoch, sync: size !== 2 });
          stored += batch.length;
        }
        const open = log.slice(0, -1).map(({ line }) => textOf(line));
        for (const after of [0, 1, Math.floor(stored / 2), stored - 1, stored, stored + 5]) {
          assert.deepEqual(await linesOf(journal, `r${seed}`, after), open.slice(after));
        }
        await journal.append(`r${seed}`, stored, log.slice(-1), { epoch, sync: true });
        const wanted = await linesOf(journal, `r${seed}`, 0);
        assert.deepEqual(
          wanted.map(shown(log)),
          log.map(({ line }) => textOf(line)),
        );
        assert.deepEqual(checkLog(wanted.map((line) => parseEventStrict(line))), []);
        const loaded = await journal.load(`r${seed}`);
        assert.deepEqual(
          loaded?.events.map(({ line }) => textOf(line)),
          wanted,
        );
        assert.deepEqual(
          loaded?.events.map(({ seq }) => seq),
          log.map(({ seq }) => seq),
        );
      }
    },
  ],
  [
    "pages are of 512 events",
    async ({ journal }) => {
      const { epoch } = await journal.create(headerOf(1));
      const many = linesOfText("r1", 1_200);
      await journal.append("r1", 0, many, { epoch, sync: false });
      const sizes: number[] = [];
      for await (const page of journal.read("r1", 0)) sizes.push(page.length);
      assert.deepEqual(sizes, [512, 512, 176]);
    },
  ],
  [
    "an append with another position, or of another epoch, is refused and writes nothing",
    async ({ journal }) => {
      const { epoch } = await journal.create(headerOf(1));
      const log = logOf(1);
      await journal.append("r1", 0, log.slice(0, 3), { epoch, sync: true });
      const next = log.slice(3, 4);
      await refused(journal.append("r1", 2, next, { epoch, sync: true }), "lease_lost");
      await refused(journal.append("r1", 4, next, { epoch, sync: true }), "lease_lost");
      await refused(journal.append("r1", 3, next, { epoch: epoch + 1, sync: true }), "lease_lost");
      assert.equal((await linesOf(journal, "r1", 0)).length, 3);
      await journal.append("r1", 3, next, { epoch, sync: true });
      assert.equal((await linesOf(journal, "r1", 0)).length, 4);
    },
  ],
  [
    "of many appends at the same position one is stored",
    async ({ journal }) => {
      const { epoch } = await journal.create(headerOf(1));
      const first = logOf(1).slice(0, 1);
      const all = await Promise.allSettled(
        Array.from({ length: CONTENDERS }, () =>
          journal.append("r1", 0, first, { epoch, sync: true }),
        ),
      );
      assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await linesOf(journal, "r1", 0)).length, 1);
    },
  ],
  [
    "of appends to many runs at once those of another epoch are refused, and all others are stored",
    async ({ journal }) => {
      const ids = Array.from({ length: TOGETHER }, (_, n) => `r${n}`);
      const made = await Promise.all(ids.map((_, n) => journal.create(headerOf(n))));
      const logs = ids.map((id, n) => linesOfText(id, 1 + (n % 4)));
      const isStale = (n: number) => n % 20 === 7;
      const answers = await Promise.allSettled(
        made.map(({ epoch }, n) => {
          const by = isStale(n) ? epoch + 1 : epoch;
          return journal.append(`r${n}`, 0, logs[n] ?? [], { epoch: by, sync: true });
        }),
      );
      for (const [n, { status }] of answers.entries()) {
        assert.equal(status, isStale(n) ? "rejected" : "fulfilled");
        const texts = logs[n]?.map(({ line }) => textOf(line));
        assert.deepEqual(await linesOf(journal, `r${n}`, 0), isStale(n) ? [] : texts);
      }
    },
  ],
  [
    "who created a run holds it until it is given back; a new owner has a newer epoch",
    async ({ journal, advance }) => {
      const { epoch } = await journal.create(headerOf(1));
      const log = logOf(1);
      assert.equal(await journal.lease("r1", "b", 1_000), null);
      await journal.release("r1", epoch);
      const b = await journal.lease("r1", "b", 1_000);
      assert.ok(b !== null && b.epoch > epoch);
      await refused(journal.append("r1", 0, log.slice(0, 1), { epoch, sync: true }), "lease_lost");
      await journal.append("r1", 0, log.slice(0, 1), { epoch: b.epoch, sync: true });
      assert.equal(await journal.lease("r1", "c", 1_000), null);
      advance(999);
      assert.equal(await journal.lease("r1", "c", 1_000), null);
      advance(1);
      const c = await journal.lease("r1", "c", 1_000);
      assert.ok(c !== null && c.epoch > b.epoch);
      await refused(
        journal.append("r1", 1, log.slice(1, 2), { epoch: b.epoch, sync: true }),
        "lease_lost",
      );
    },
  ],
  [
    "an owner that renews keeps its epoch, also late; one that gave the run back gets a new one",
    async ({ journal, advance }) => {
      const { epoch } = await journal.create(headerOf(1));
      await journal.release("r1", epoch);
      const first = await journal.lease("r1", "a", 1_000);
      assert.ok(first !== null);
      advance(500);
      assert.deepEqual(await journal.lease("r1", "a", 1_000), first);
      advance(5_000);
      assert.deepEqual(await journal.lease("r1", "a", 1_000), first);
      await journal.release("r1", first.epoch - 1);
      assert.equal(await journal.lease("r1", "b", 1_000), null);
      await journal.release("r1", first.epoch);
      const again = await journal.lease("r1", "a", 1_000);
      assert.ok(again !== null && again.epoch > first.epoch);
    },
  ],
  [
    "of many who want a free run one gets it",
    async ({ journal }) => {
      const { epoch } = await journal.create(headerOf(1));
      await journal.release("r1", epoch);
      const leases = await Promise.all(
        Array.from({ length: CONTENDERS }, (_, n) => journal.lease("r1", `owner ${n}`, 1_000)),
      );
      assert.equal(leases.filter((lease) => lease !== null).length, 1);
    },
  ],
  [
    "values come back by reference and by name, small and large, and belong to their run",
    async ({ journal }) => {
      await journal.create(headerOf(1));
      await journal.create(headerOf(2));
      const large = { text: "ä".repeat(LARGE), list: [1, null, { b: -0.5 }] };
      for (const [name, value] of [
        ["small", { b: 1, a: "x" }],
        ["large", large],
        ["null", null],
        ["quote", "\u2028 ' \" \\ \0"],
      ] as const) {
        const ref = await journal.putValue("r1", name, value);
        assert.match(ref, /^sha256:[0-9a-f]{64}$/);
        assert.deepEqual(await journal.getValue("r1", ref), value);
        assert.equal(await journal.getValue("r2", ref), undefined);
        assert.deepEqual((await journal.load("r1"))?.steps[name], value);
      }
      const ref = await journal.putValue("r2", "again", large);
      assert.deepEqual(await journal.getValue("r2", ref), large);
      assert.equal(
        await journal.putValue("r2", "other", { a: "x", b: 1 }),
        await journal.putValue("r1", "more", { b: 1, a: "x" }),
      );
      assert.equal(await journal.getValue("r1", `sha256:${"0".repeat(64)}`), undefined);
    },
  ],
  [
    "a value that is put again under its name is the new one",
    async ({ journal }) => {
      await journal.create(headerOf(1));
      await journal.putValue("r1", "k", 1);
      await journal.putValue("r1", "k", "x".repeat(LARGE));
      await journal.putValue("r1", "k", 2);
      assert.deepEqual((await journal.load("r1"))?.steps, { k: 2 });
    },
  ],
  [
    "private values are known to load alone",
    async ({ journal }) => {
      await journal.create(headerOf(1));
      const names = ["a#1", "a#2", "pages[3]/get#12", "plain", "odd#0", "odd#01", "#"];
      for (const name of names) {
        const ref = await journal.putValue("r1", name, { name }, { private: true });
        assert.equal(await journal.getValue("r1", ref), undefined);
      }
      const state = await journal.load("r1");
      assert.deepEqual(
        state?.privateValues,
        Object.fromEntries(names.map((name) => [name, { name }])),
      );
      assert.deepEqual(state?.steps, {});
    },
  ],
];

function headerOf(seed: number, more: Partial<RunHeader> = {}): RunHeader {
  return {
    runId: `r${seed}`,
    planDigest: `sha256:${"ab".repeat(32)}`,
    graph: legalLog(seed).graph,
    inputs: { seed, list: [1, "two", null] },
    trigger: "embed",
    ...more,
  };
}

const utf8 = new TextEncoder();

function logOf(seed: number): EncodedEvent[] {
  return legalLog(seed).events.map((event) => ({
    seq: event.seq,
    kind: event.kind,
    line: utf8.encode(serialiseEvent(event)),
    event,
  }));
}

/** For a line of a sealed log: what it was, when it is that or what may be left of it. */
function shown(log: readonly EncodedEvent[]): (line: string, index: number) => string {
  return (line, index) => {
    const { event, line: bytes } = log[index] as EncodedEvent;
    return line === serialiseEvent(withholdContent(event)) ? textOf(bytes) : line;
  };
}

/** A log of nothing but lines of text. */
function linesOfText(runId: string, count: number): EncodedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = index + 1;
    const text = `line ${seq}`;
    const event = {
      v: 1,
      kind: "log",
      runId,
      seq,
      ts: BEGIN,
      level: "info",
      channel: "engine",
      text,
    } as const;
    return { seq, kind: event.kind, line: utf8.encode(serialiseEvent(event)), event };
  });
}

async function linesOf(journal: Journal, runId: string, after: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of journal.read(runId, after)) {
    assert.ok(page.every(({ line }) => line instanceof Uint8Array));
    lines.push(...page.map(({ line }) => textOf(line)));
  }
  return lines;
}

function textOf(line: Uint8Array): string {
  return new TextDecoder().decode(line);
}

async function refused(call: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(call, { code });
}
