/** Channels of models over a real server: a window is told what the manager does, and is refused where there is none. */
import { createHash } from "node:crypto";
import { sharedFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { createChannelHost, createServer } from "../../server/src/index.ts";

const dir = sharedFolder();
const log = { debug() {}, info() {}, warn() {}, error() {} };

test("what the manager of models tells reaches the channel that it is of, until the listener leaves", async () => {
  const bytes = tinyGguf({ mode: "random" });
  const files = await serveHttp((_, response) => {
    response.writeHead(200, { "content-length": bytes.length }).end(bytes);
  });
  const source = `${files.url}/one.gguf`;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const egress = { allow: [{ cidr: "127.0.0.0/8" }] };
  const server = await createServer({ store: "memory", log, egress, models: { dir } });
  const host = createChannelHost(server);
  const told: unknown[] = [];
  const leave = await host.listen("models:registered", (id) => void told.push(id));
  const stages: string[] = [];
  const ended = new Promise<void>((resolve) => {
    void host.listen("models:install_progress", ({ stage }) => {
      stages.push(stage);
      if (stage === "done" || stage === "error") resolve();
    });
  });
  await host.invoke("install_model", { source, id: "one", sha256 });
  await ended;
  expect(stages.at(-1)).toBe("done");
  expect(told).toEqual(["one"]);
  leave();
  await files.close();
  await server.close({ graceMs: 0 });
});

test("a server without models refuses their channels, and any refuses one that nobody knows", async () => {
  const server = await createServer({ store: "memory", log, models: false });
  const host = createChannelHost(server);
  const code = (channel: string) =>
    host
      .listen(channel as "models:registered", () => {})
      .then(
        () => "listens",
        (error: { code: string }) => error.code,
      );
  expect(await code("models:registered")).toBe("command_not_wired");
  expect(await code("models:other")).toBe("channel_unknown");
  await server.close({ graceMs: 0 });
});
