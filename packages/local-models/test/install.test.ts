/** A model from a server: answers, digests, parts. */
import { describe, expect, test } from "vitest";
import type { FileServer } from "./file-server.ts";
import {
  askedOf,
  checkSteps,
  DIGEST,
  installed,
  MIDDLE,
  MODEL,
  OTHER,
  path,
  server,
  stages,
  useFileServer,
} from "./installed.ts";
import { codeOf, eagerClock, loopbackFetch, openManager, sha256 } from "./opened.ts";

useFileServer();

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
