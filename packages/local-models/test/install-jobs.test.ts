/** Installs as jobs: redirects, order, room, files of this machine. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test, vi } from "vitest";
import { PartFile, partKey } from "../src/install/part-file.ts";
import { openFileServer } from "./file-server.ts";
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
import { codeOf, ENDS, eagerClock, openManager, put, type Step, sha256 } from "./opened.ts";

useFileServer();

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
