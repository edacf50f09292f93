import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PartFile, partKey } from "../src/install/part-file.ts";
import { type FileServer, openFileServer } from "./file-server.ts";
import {
  codeOf,
  ENDS,
  eagerClock,
  loopbackFetch,
  openManager,
  put,
  type Step,
  sha256,
} from "./opened.ts";

const MODEL = tinyGguf();
const DIGEST = sha256(MODEL);
const MIDDLE = 300_000;
const OTHER = tinyGguf({ text: "another text" });

let server: FileServer;
beforeAll(async () => {
  server = await openFileServer();
});
afterAll(() => server.close());

let count = 0;
/** A URL that no other test uses. */
const path = (): string => `/m${++count}/tiny.gguf`;
const askedOf = (url: string) => server.asked.filter((one) => server.origin + one.path === url);
type Opened = ReturnType<typeof openManager>;
/** Installs the model of this URL as `m`, or as the arguments say, and waits for its end. */
const installed = ({ manager, ended }: Opened, source: string, more: object = {}) =>
  ended(manager.install({ source, id: "m", sha256: DIGEST, ...more }));
const stages = (steps: readonly Step[]) => [...new Set(steps.map(({ stage }) => stage))];

/** What must hold of every job's events. */
function checkSteps(steps: readonly Step[]): void {
  for (const step of steps) {
    expect(Object.keys(step)).toEqual(["stage", "current", "total", "message", "jobId"]);
    expect(Number.isSafeInteger(step.current) && Number.isSafeInteger(step.total)).toBe(true);
    if (step.total > 0) expect(step.current).toBeLessThanOrEqual(step.total);
  }
  for (const [i, step] of steps.entries()) {
    const before = steps[i - 1];
    if (before?.stage !== step.stage || step.message.endsWith(": restarted")) continue;
    expect(step.current).toBeGreaterThanOrEqual(before.current);
  }
  expect(steps.filter(({ stage }) => ENDS.has(stage))).toHaveLength(1);
  expect(ENDS.has(steps.at(-1)?.stage ?? "")).toBe(true);
}

test("a model is fetched, verified and registered, and the events say so step by step", async () => {
  const opened = openManager();
  await opened.manager.scanned;
  opened.sent.length = 0;
  const url = server.serve(path(), { body: MODEL });
  const source = `${url}?token=s3cret`;
  const job = opened.manager.install({ source, id: "tiny:f32", sha256: DIGEST });
  const begun = { kind: "install", modelId: "tiny:f32", stage: "resolve", error: null };
  expect(job).toMatchObject(begun);
  expect(opened.manager.get("tiny:f32").state).toBe("installing");
  expect(await opened.ended(job)).toMatchObject({ id: job.id, stage: "done", error: null });
  const steps = opened.steps("tiny:f32");
  checkSteps(steps);
  expect(stages(steps)).toEqual(["resolve", "download", "verify", "register", "done"]);
  const of = (stage: string) => steps.filter((step) => step.stage === stage);
  expect(of("resolve")[0]).toMatchObject({ current: 0, total: 0 });
  for (const stage of ["download", "verify"]) {
    expect(of(stage)[0]).toMatchObject({ current: 0, total: MODEL.length });
    expect(of(stage).at(-1)).toMatchObject({ current: MODEL.length, total: MODEL.length });
  }
  expect(of("register").map(({ current, total }) => [current, total])).toEqual([
    [0, 1],
    [1, 1],
  ]);
  const last = { stage: "done", current: 1, total: 1, message: "tiny:f32", jobId: job.id };
  expect(steps.at(-1)).toEqual(last);
  const registered = opened.sent.findIndex(({ channel }) => channel === "models:registered");
  expect(opened.sent[registered]).toEqual({ channel: "models:registered", payload: "tiny:f32" });
  expect(opened.sent[registered + 1]?.payload).toMatchObject({ stage: "register", current: 1 });
  expect(opened.files()).toEqual(["files/tiny/f32.gguf"]);
  expect(opened.manager.get("tiny:f32")).toEqual({
    ...{ id: "tiny:f32", state: "ready", bytes: MODEL.length, sha256: DIGEST, verified: true },
    ...{ files: ["tiny/f32.gguf"], source: { kind: "url", url }, origin: "managed" },
    gguf: {
      ...{ arch: "llama", contextLength: 2048, quant: "F32", parameters: expect.any(Number) },
      ...{ chatTemplate: true, embedding: false },
    },
    defaults: { contextSize: 2048, threads: null, ttlMs: 600_000 },
    ...{ runtime: null, error: null, lastUsedAt: null },
  });
});

test("a digest that nobody knew beforehand is computed and said to be unverified", async () => {
  const opened = openManager();
  const url = server.serve(path(), { body: MODEL });
  expect(await codeOf(() => opened.manager.install({ source: url }))).toBe("digest_required");
  await opened.ended(opened.manager.install({ source: url, allowUnverified: true }));
  expect(opened.manager.get("tiny")).toMatchObject({
    sha256: DIGEST,
    verified: false,
    files: ["tiny.gguf"],
  });
});

describe("an answer of the server", () => {
  const half = (): ReturnType<FileServer["serve"]> =>
    server.serve(path(), { body: MODEL }, [{ cutAt: MIDDLE }]);

  /** Installs with faults; answers how it ended and what was asked. */
  async function tried(
    faults: Parameters<FileServer["serve"]>[2],
    file = { body: MODEL } as Parameters<FileServer["serve"]>[1],
  ) {
    const clock = eagerClock();
    const opened = openManager({ clock });
    const url = server.serve(path(), file, faults);
    const job = await installed(opened, url);
    checkSteps(opened.steps("m"));
    return { ...opened, job, url, asked: askedOf(url), waits: clock.waits };
  }

  test("206 after a cut: the rest is asked for by range and ETag, after a second", async () => {
    const { job, asked, waits, files } = await tried([{ cutAt: MIDDLE }]);
    expect(job.stage).toBe("done");
    expect(asked.map(({ range, ifRange, status }) => [range, ifRange, status])).toEqual([
      [undefined, undefined, 200],
      [`bytes=${MIDDLE}-`, '"one"', 206],
    ]);
    expect(asked.reduce((sum, { sent }) => sum + sent, 0)).toBe(MODEL.length);
    expect(waits).toEqual([1000]);
    expect(files()).toEqual(["files/m.gguf"]);
  });

  test("a weak ETag is not trusted, the date is", async () => {
    const lastModified = "Wed, 21 Oct 2026 07:28:00 GMT";
    const file = { body: MODEL, etag: 'W/"one"', lastModified };
    const { job, asked } = await tried([{ cutAt: MIDDLE }], file);
    expect(job.stage).toBe("done");
    expect(asked[1]).toMatchObject({ ifRange: lastModified, status: 206 });
  });

  test("a server that sends the rest of a file of another date is not believed", async () => {
    const lastModified = "Wed, 21 Oct 2026 07:28:00 GMT";
    const later = { headers: { "last-modified": "Thu, 22 Oct 2026 07:28:00 GMT" } };
    const file = { body: MODEL, etag: null, lastModified };
    const { job, asked } = await tried([{ cutAt: MIDDLE }, later], file);
    expect(job.stage).toBe("done");
    expect(asked.map(({ status }) => status)).toEqual([200, 206, 200]);
  });

  test("neither ETag nor date: it starts over", async () => {
    const { job, asked, steps } = await tried([{ cutAt: MIDDLE }], { body: MODEL, etag: null });
    expect(job.stage).toBe("done");
    expect(asked.map(({ range }) => range)).toEqual([undefined, undefined]);
    expect(steps("m").filter(({ message }) => message === "m: restarted")).toHaveLength(1);
  });

  const LONGER = `bytes ${MIDDLE}-9999999/10000000`;
  test.each([
    ["200: the server knows no ranges", { noRanges: true }],
    ["206 from another place", { from: 5 }],
    ["206 with another ETag", { headers: { etag: '"two"' } }],
    ["206 with another length", { headers: { "content-range": LONGER } }],
    ["206 that does not say from where", { headers: { "content-range": "bytes" } }],
  ] as const)("%s: it starts over and says so", async (_, fault) => {
    const { job, steps, asked } = await tried([{ cutAt: MIDDLE }, fault]);
    expect(job.stage).toBe("done");
    expect(asked.at(-1)).toMatchObject({ status: 200, sent: MODEL.length });
    const restarted = steps("m").filter(({ message }) => message === "m: restarted");
    expect(restarted.map(({ stage, current }) => [stage, current])).toEqual([["download", 0]]);
  });

  test("a file that changed in between is fetched from the start", async () => {
    const { job, asked } = await tried([{ cutAt: MIDDLE, file: { body: OTHER, etag: '"old"' } }]);
    expect(job.stage).toBe("done");
    expect(asked.map(({ ifRange, status }) => [ifRange, status])).toEqual([
      [undefined, 200],
      ['"old"', 200],
    ]);
  });

  test("416 with the length that is there: the part is whole", async () => {
    const long = Buffer.concat([MODEL, Buffer.alloc(10)]);
    const { job, asked } = await tried([{ cutAt: MODEL.length, file: { body: long } }]);
    expect(asked.map(({ status, sent }) => [status, sent])).toEqual([
      [200, MODEL.length],
      [416, 0],
    ]);
    expect(job.stage).toBe("done");
  });

  test("416 otherwise: once more from the start, then it fails", async () => {
    const bad = { status: 416, headers: { "content-range": "bytes */5" } };
    const once = await tried([{ cutAt: MIDDLE }, bad]);
    expect(once.job.stage).toBe("done");
    const twice = await tried([{ cutAt: MIDDLE }, bad, { cutAt: MIDDLE }, bad]);
    expect(twice.job).toMatchObject({ stage: "error", error: { code: "download_failed" } });
    expect(twice.files()).toEqual([]);
  });

  test("5xx and 429: it waits as long as the server asks, at most a minute", async () => {
    const soon = { status: 429, headers: { "retry-after": "7" } };
    const late = { status: 503, headers: { "retry-after": "86400" } };
    const { job, waits } = await tried([soon, late, { status: 500 }]);
    expect(job.stage).toBe("done");
    expect(waits).toEqual([7_000, 60_000, 4_000]);
  });

  test("five tries that bring nothing new end it, and the part stays for the next install", async () => {
    const dead = Array.from({ length: 6 }, () => ({ status: 502 }));
    const first = await tried(dead);
    expect(first.job.error?.code).toBe("download_interrupted");
    expect(first.waits).toEqual([1000, 2000, 4000, 8000]);
    expect(first.files()).toEqual([]);

    const cut = await tried([{ cutAt: MIDDLE }, ...dead.slice(0, 5)]);
    expect(cut.job.error?.code).toBe("download_interrupted");
    expect(cut.waits).toEqual([1000, 2000, 4000, 8000, 15_000]);
    expect(cut.steps("m").at(-1)?.message).toBe("m: download_interrupted");
    expect(cut.files()).toEqual([
      expect.stringMatching(/^downloads\/[0-9a-f]{32}\.json$/),
      expect.stringMatching(/\.part$/),
    ]);
    expect(cut.manager.get("m")).toMatchObject({ state: "installing", bytes: MIDDLE, gguf: null });
    const again = await installed(cut, cut.url);
    expect(again.stage).toBe("done");
    expect(askedOf(cut.url).at(-1)).toMatchObject({ range: `bytes=${MIDDLE}-`, status: 206 });
    const downloads = cut.steps("m").filter(({ stage }) => stage === "download");
    expect(downloads.filter(({ current }) => current < MIDDLE)).toHaveLength(1);
  });

  test("the same bytes again are nothing new", async () => {
    const cut = { cutAt: MIDDLE, noRanges: true } as const;
    const { job, asked } = await tried(Array.from({ length: 9 }, () => cut));
    expect(job.error?.code).toBe("download_interrupted");
    expect(asked).toHaveLength(6);
  });

  test.each([
    [401, "download_denied"],
    [403, "download_denied"],
    [404, "download_not_found"],
    [410, "download_not_found"],
    [400, "download_failed"],
    [451, "download_failed"],
    [304, "download_failed"],
  ])("%i ends it with %s, and nothing is left", async (status, code) => {
    const { job, asked, files, steps } = await tried([{ status }]);
    expect(job).toMatchObject({ stage: "error", error: { code } });
    expect(steps("m").at(-1)?.message).toBe(`m: ${code}`);
    expect(asked).toHaveLength(1);
    expect(files()).toEqual([]);
  });

  test("a clean end before the length is an interruption", async () => {
    const { job, asked } = await tried([{ cutAt: MIDDLE }, { chunked: true, cutAt: 1000 }]);
    expect(job.stage).toBe("done");
    expect(asked.at(-1)).toMatchObject({ range: `bytes=${MIDDLE + 1000}-`, status: 206 });
  });

  test("more bytes than the file has end it, and the part is removed", async () => {
    const long = Buffer.alloc(MODEL.length * 2);
    const range = { "content-range": `bytes ${MIDDLE}-${MODEL.length - 1}/${MODEL.length}` };
    const { job, files } = await tried([
      { cutAt: MIDDLE },
      { chunked: true, file: { body: long }, headers: range },
    ]);
    expect(job.error?.code).toBe("download_failed");
    expect(files()).toEqual([]);
  });

  test("a coded body is refused: it could not be continued", async () => {
    const { job } = await tried([{ headers: { "content-encoding": "gzip" } }]);
    expect(job.error?.code).toBe("download_failed");
  });

  test("a wrong byte is a digest mismatch, and the part is removed", async () => {
    const wrong = Buffer.from(MODEL);
    wrong[700_000] = 1;
    const { job, files, manager } = await tried([{ file: { body: wrong } }]);
    expect(job.error?.code).toBe("digest_mismatch");
    expect(files()).toEqual([]);
    expect(manager.list()).toEqual([]);
  });

  test("what is no whole model is removed, with the reason", async () => {
    const short = MODEL.subarray(0, MODEL.length - 1000);
    const opened = openManager();
    const url = server.serve(path(), { body: short });
    const job = await opened.ended(opened.manager.install({ source: url, sha256: sha256(short) }));
    expect(job.error).toMatchObject({
      code: "invalid_model",
      message: expect.stringContaining("truncated"),
    });
    expect(opened.files()).toEqual([]);
  });

  test("silence is an interruption", async () => {
    const clock = eagerClock();
    const opened = openManager({ clock, fetch: loopbackFetch(100) });
    const url = server.serve(path(), { body: MODEL }, [{ stallAt: MIDDLE }]);
    const job = await opened.ended(opened.manager.install({ source: url, sha256: DIGEST }));
    expect(job.stage).toBe("done");
    expect(askedOf(url)[1]).toMatchObject({ range: `bytes=${MIDDLE}-`, status: 206 });
  });

  test("the name of a file comes from the id, whatever the server says", async () => {
    const headers = { "content-disposition": 'attachment; filename="../../evil.gguf"' };
    const { files } = await tried([{ headers }]);
    expect(files()).toEqual(["files/m.gguf"]);
    const opened = openManager();
    const body = { body: MODEL };
    const url = server.serve(`/x/${encodeURIComponent("../../Evil Näme.gguf")}`, body);
    await opened.ended(opened.manager.install({ source: url, sha256: DIGEST }));
    expect(opened.files()).toEqual(["files/evil-n-me.gguf"]);
    expect(half()).toContain("/m");
  });
});

describe("redirects and credentials", () => {
  test("a redirect is followed, and a credential stays with its origin", async () => {
    const other = await openFileServer();
    const target = other.serve("/real.gguf", { body: MODEL });
    const url = server.serve(path(), { body: MODEL }, [
      { status: 302, headers: { location: target } },
    ]);
    const opened = openManager({
      credentials: { secret: async (name) => (name === "ai:hf" ? "s3cret" : undefined) },
    });
    const job = opened.manager.install({
      source: url,
      id: "m",
      sha256: DIGEST,
      headersCredential: "ai:hf",
    });
    expect((await opened.ended(job)).stage).toBe("done");
    expect(askedOf(url)[0]?.authorization).toBe("Bearer s3cret");
    expect(other.asked.map(({ path: asked, authorization }) => [asked, authorization])).toEqual([
      ["/real.gguf", undefined],
    ]);
    expect(
      JSON.stringify([opened.sent, opened.logged, opened.manager.list(), opened.manager.jobs()]),
    ).not.toContain("s3cret");
    await other.close();

    const none = opened.manager.install({
      source: url,
      id: "n",
      sha256: DIGEST,
      headersCredential: "ai:none",
    });
    expect((await opened.ended(none)).error?.code).toBe("download_denied");
  });

  test("the sixth redirect, and one to a private address, end it", async () => {
    const url = server.serve(
      path(),
      { body: MODEL },
      Array.from({ length: 6 }, () => ({ status: 302, headers: { location: "?again" } })),
    );
    const opened = openManager();
    const job = await installed(opened, url);
    expect(job.error?.code).toBe("download_denied");
    const again = server.asked.filter(({ path: asked }) =>
      url.endsWith(asked.replace("?again", "")),
    );
    expect(again).toHaveLength(6);
    const away = server.serve(path(), { body: MODEL }, [
      { status: 302, headers: { location: "http://10.0.0.1/x" } },
    ]);
    const denied = await installed(opened, away);
    expect(denied.error?.code).toBe("download_denied");
  });
});

describe("jobs", () => {
  test("one runs at a time, the same id joins, and an id that exists is refused or already done", async () => {
    const opened = openManager();
    const url = server.serve(path(), { body: MODEL });
    const args = { source: url, sha256: DIGEST };
    const a = opened.manager.install({ ...args, id: "a" });
    const b = opened.manager.install({ ...args, id: "b" });
    expect(opened.manager.install({ ...args, id: "a" }).id).toBe(a.id);
    expect(opened.manager.jobs().find(({ id }) => id === b.id)?.stage).toBe("resolve");
    await opened.ended(b);
    const order = opened.sent.flatMap((one) =>
      one.channel === "models:install_progress" ? one.payload.message : [],
    );
    expect(order.lastIndexOf("a")).toBeLessThan(order.indexOf("b"));
    const again = opened.manager.install({ ...args, id: "a" });
    expect(again).toMatchObject({ stage: "done", error: null });
    expect(again.id).not.toBe(a.id);
    expect(
      await codeOf(() => opened.manager.install({ source: url, sha256: "0".repeat(64), id: "a" })),
    ).toBe("already_exists");
    expect(askedOf(url)).toHaveLength(2);
  });

  test("a cancelled job closes its connection, keeps its part, and the next process goes on with it", async () => {
    let now = 0;
    const tick = { now: () => (now += 1000), setTimer: eagerClock().setTimer };
    const opened = openManager({ clock: tick });
    const url = server.serve(path(), { body: MODEL }, [{ stallAt: MIDDLE }]);
    const args = { source: url, id: "m", sha256: DIGEST };
    const job = opened.manager.install(args);
    const waiting = opened.manager.install({ ...args, id: "later" });
    await opened.seen(({ payload }) => (payload as Step).current === MIDDLE);
    expect(opened.manager.cancelJob(waiting.id).stage).toBe("cancelled");
    opened.manager.cancelJob(job.id);
    expect(await opened.ended(job)).toMatchObject({ stage: "cancelled", error: null });
    checkSteps(opened.steps("m"));
    expect(opened.steps("later").map(({ stage }) => stage)).toEqual(["cancelled"]);
    expect(await codeOf(() => opened.manager.cancelJob(job.id))).toBe("state_conflict");
    expect(await codeOf(() => opened.manager.cancelJob("job_none"))).toBe("not_found");
    await opened.manager.close();
    expect(askedOf(url)[0]?.closed).toBe(true);

    const next = openManager({ dir: opened.dir });
    await next.manager.scanned;
    const left = { state: "installing", bytes: MIDDLE, sha256: DIGEST };
    expect(next.manager.get("m")).toMatchObject(left);
    await next.ended(next.manager.install(args));
    expect(askedOf(url).at(-1)?.range).toBe(`bytes=${MIDDLE}-`);
    expect(next.files()).toEqual(["files/m.gguf"]);
  });

  test("who comes after a job that was cancelled before its turn keeps what it fetches", async () => {
    const opened = openManager();
    const stalled = (): string => server.serve(path(), { body: MODEL }, [{ stallAt: MIDDLE }]);
    const first = opened.manager.install({ source: stalled(), id: "first", sha256: DIGEST });
    const args = { source: stalled(), id: "m", sha256: DIGEST };
    opened.manager.cancelJob(opened.manager.install(args).id);
    expect(await codeOf(() => opened.manager.remove("m"))).toBe("not_found");
    const successor = opened.manager.install(args);
    opened.manager.cancelJob(first.id);
    await opened.seen(
      ({ payload }) => (payload as Step).message === "m" && (payload as Step).stage === "download",
    );
    await opened.manager.scan();
    expect(opened.manager.get("m").state).toBe("installing");
    opened.manager.cancelJob(successor.id);
    await opened.ended(successor);
    expect(opened.files().some((name) => name.endsWith(".part"))).toBe(true);
  });

  describe("after a process that was killed behind the last byte", () => {
    /** A part with every byte of a file, as such a process leaves it. */
    async function left(of: Buffer, total = of.length) {
      const dir = join(temporaryFolder(), "models");
      const url = server.serve(path(), { body: MODEL });
      mkdirSync(join(dir, "downloads"), { recursive: true });
      const key = partKey(url, DIGEST);
      const fresh = { id: "m", url, sha256: DIGEST };
      const part = await PartFile.open(join(dir, "downloads"), key, fresh);
      part.describe({ etag: '"one"', lastModified: null, total });
      await part.write(of);
      await part.settle();
      await part.close();
      return { dir, url };
    }

    async function next({ dir, url }: { dir: string; url: string }) {
      const opened = openManager({ dir, clock: eagerClock() });
      await opened.manager.scanned;
      const job = await installed(opened, url);
      const asked = askedOf(url).map(({ range, status, sent }) => [range, status, sent]);
      return { job, asked, files: opened.files() };
    }

    const REST = `bytes=${MODEL.length}-`;

    test("nothing is sent again: 416 says that the part is whole", async () => {
      const { job, asked, files } = await next(await left(MODEL));
      expect([job.stage, asked, files]).toEqual(["done", [[REST, 416, 0]], ["files/m.gguf"]]);
    });

    test("416 without a length means the length that the server said before", async () => {
      const at = await left(MODEL);
      server.serve(new URL(at.url).pathname, { body: MODEL }, [{ status: 416 }]);
      const { job, asked } = await next(at);
      expect([job.stage, asked]).toEqual(["done", [[REST, 416, 0]]]);
    });

    test("416 for a part that is not whole starts over", async () => {
      const half = MODEL.subarray(0, MIDDLE);
      const at = await left(half, MODEL.length);
      server.serve(new URL(at.url).pathname, { body: MODEL }, [{ status: 416 }]);
      const { job, asked } = await next(at);
      const again = [undefined, 200, MODEL.length];
      expect([job.stage, asked]).toEqual(["done", [[`bytes=${MIDDLE}-`, 416, 0], again]]);
    });

    test("416 for another file, by its ETag, starts over", async () => {
      const at = await left(OTHER.subarray(0, MODEL.length), MODEL.length);
      const headers = { etag: '"two"', "content-range": `bytes */${OTHER.length}` };
      server.serve(new URL(at.url).pathname, { body: MODEL }, [{ status: 416, headers }]);
      const { job, asked } = await next(at);
      expect(job.stage).toBe("done");
      expect(asked.at(-1)).toEqual([undefined, 200, MODEL.length]);
    });
  });

  test("a model whose file is broken is not there, though it had the digest", async () => {
    const opened = openManager();
    const args = { source: server.serve(path(), { body: MODEL }), id: "m", sha256: DIGEST };
    await opened.ended(opened.manager.install(args));
    writeFileSync(join(opened.dir, "files/m.gguf"), "broken");
    await opened.manager.scan();
    expect(await codeOf(() => opened.manager.install(args))).toBe("already_exists");
    await opened.manager.remove("m");
    expect((await opened.ended(opened.manager.install(args))).stage).toBe("done");
    expect(opened.manager.get("m").state).toBe("ready");
  });

  test("a model that is being installed is in use; what an install left can be removed", async () => {
    const opened = openManager({ clock: eagerClock() });
    const url = server.serve(path(), { body: MODEL }, [{ stallAt: MIDDLE }]);
    const job = opened.manager.install({ source: url, id: "m", sha256: DIGEST });
    await opened.seen(({ payload }) => (payload as Step).stage === "download");
    expect(await codeOf(() => opened.manager.remove("m"))).toBe("in_use");
    expect(await codeOf(() => opened.manager.load("m"))).toBe("state_conflict");
    opened.manager.cancelJob(job.id);
    await opened.ended(job);
    const cut = [{ cutAt: MIDDLE }, ...Array.from({ length: 5 }, () => ({ status: 500 }))];
    const again = server.serve(path(), { body: MODEL }, cut);
    await installed(opened, again);
    expect(opened.manager.list({ state: "installing" }).map(({ id }) => id)).toEqual(["m"]);
    await opened.manager.remove("m");
    expect(opened.files().filter((name) => name.startsWith("files/"))).toEqual([]);
    expect(opened.manager.list()).toEqual([]);
    expect(await codeOf(() => opened.manager.get("m"))).toBe("not_found");
  });

  test("a job is forgotten a day after its end, a part a week after", async () => {
    let now = Date.now();
    const opened = openManager({ clock: { now: () => now, setTimer: eagerClock().setTimer } });
    const cut = [{ cutAt: MIDDLE }, ...Array.from({ length: 5 }, () => ({ status: 500 }))];
    const url = server.serve(path(), { body: MODEL }, cut);
    await installed(opened, url);
    const installs = () => opened.manager.jobs().filter(({ kind }) => kind === "install").length;
    now += 86_400_000;
    expect(installs()).toBe(1);
    now += 1;
    expect(installs()).toBe(0);
    await opened.manager.scan();
    expect(opened.manager.get("m").state).toBe("installing");
    mkdirSync(join(opened.dir, "downloads/odd.part")); // what cannot be removed is no fault of the others
    now += 7 * 86_400_000;
    await opened.manager.scan();
    expect(opened.files()).toEqual([]);
  });

  test("at most ten events a second, beside the first and the last of each stage", async () => {
    const opened = openManager({ clock: { now: () => 0, setTimer: eagerClock().setTimer } });
    const body = Buffer.concat([MODEL, Buffer.alloc(2_000_000)]);
    const url = server.serve(path(), { body });
    await installed(opened, url, { sha256: sha256(body) });
    const perStage = stages(opened.steps("m")).map(
      (stage) => opened.steps("m").filter((step) => step.stage === stage).length,
    );
    expect(perStage).toEqual([1, 2, 2, 2, 1]);
  });
});

describe("room", () => {
  test("a disk without room for the rest and 512 MiB ends it before a byte is written", async () => {
    let free = MODEL.length + 512 * 1_048_576 - 1;
    const opened = openManager({ freeBytes: async () => free });
    const url = server.serve(path(), { body: MODEL });
    const args = { source: url, id: "m", sha256: DIGEST };
    expect((await opened.ended(opened.manager.install(args))).error?.code).toBe("disk_full");
    expect(opened.files()).toEqual([]);
    free += 1;
    expect((await opened.ended(opened.manager.install(args))).stage).toBe("done");
  });

  test("a file larger than models.maxBytes is not fetched", async () => {
    const opened = openManager({ settings: { maxBytes: MODEL.length - 1 } });
    const url = server.serve(path(), { body: MODEL });
    const known = await installed(opened, url);
    expect(known.error?.code).toBe("download_failed");
    const open = server.serve(path(), { body: MODEL }, [{ chunked: true }]);
    const unknown = await installed(opened, open);
    expect(unknown.error?.code).toBe("download_failed");
    expect(opened.files()).toEqual([]);
  });
});

describe("files and hubs", () => {
  test("a file of this machine is taken, and stays where it is", async () => {
    const folder = temporaryFolder();
    put(folder, { "My Model.gguf": MODEL });
    const opened = openManager();
    const file = join(folder, "My Model.gguf");
    const job = await opened.ended(opened.manager.install({ source: { file } }));
    expect(job.stage).toBe("done");
    checkSteps(opened.steps("my-model"));
    expect(opened.manager.get("my-model")).toMatchObject({
      source: { kind: "file" },
      verified: false,
      sha256: DIGEST,
    });
    await opened.manager.remove("my-model");
    expect(opened.files()).toEqual([]);
    writeFileSync(file, "not a model");
    const bad = await opened.ended(opened.manager.install({ source: { file } }));
    expect(bad.error?.code).toBe("invalid_model");
    rmSync(file);
    const gone = await opened.ended(opened.manager.install({ source: { file } }));
    expect(gone.error).toMatchObject({
      code: "download_not_found",
      message: expect.not.stringContaining(folder),
    });
    expect(opened.files()).toEqual([]);
  });

  test("a file that grows while it is read is not what was checked", async () => {
    const folder = temporaryFolder();
    put(folder, { "grows.gguf": MODEL });
    const steps: Step[] = [];
    const { manager, files } = openManager({
      sink: {
        emit(_channel, payload) {
          const step = payload as Step;
          steps.push(step);
          if (step.stage === "verify" && step.current === 0) {
            appendFileSync(join(folder, "grows.gguf"), "more");
          }
        },
      },
    });
    await manager.scanned;
    steps.length = 0;
    manager.install({ source: { file: join(folder, "grows.gguf") } });
    await vi.waitUntil(() => ENDS.has(steps.at(-1)?.stage ?? ""), { timeout: 60_000 });
    checkSteps(steps);
    expect(steps.at(-1)?.message).toBe("grows: download_failed");
    expect(files()).toEqual([]);
  });

  test("a hub knows digest and length, and a model that is not as long is refused", async () => {
    const url = server.serve(path(), { body: MODEL });
    let bytes = MODEL.length;
    const opened = openManager({
      hubModel: async (hub, item) =>
        hub === "main" && item === "tiny" ? { source: { url }, sha256: DIGEST, bytes } : undefined,
    });
    await opened.ended(opened.manager.install({ source: "hub:main/tiny" }));
    expect(opened.manager.get("tiny")).toMatchObject({
      verified: true,
      source: { kind: "hub", hub: "main", item: "tiny" },
    });
    bytes += 1;
    const short = await opened.ended(opened.manager.install({ source: "hub:main/tiny", id: "x" }));
    expect(short.error?.code).toBe("download_failed");
    const none = await opened.ended(opened.manager.install({ source: "hub:main/none" }));
    expect(none.error?.code).toBe("download_not_found");
  });
});
