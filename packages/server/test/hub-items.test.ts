/** What hubs offer: templates are installed, of a server and of a folder of the operator. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hub, Run, Template } from "@millrace/contracts";
import type { StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import {
  add,
  codeOf,
  EGRESS,
  FLOW,
  INDEX,
  indexOf,
  install,
  itemOf,
  listenHub,
  MODEL,
  NODES,
  sync,
  synced,
  templatesOf,
  withHub,
  writeBelow,
} from "./support/hubs.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";

describe("installing a template", () => {
  test("records where it came from, and it runs like any other", async () => {
    const { server } = await withHub();
    await synced(server);
    const response = await install(server);
    expect(response.status).toBe(201);
    const { digest, version } = itemOf(HELLO);
    expect(await response.json()).toMatchObject({
      kind: "template",
      template: {
        slug: "hello",
        name: "Hello of the hub",
        version: 1,
        dsl: HELLO,
        source: { kind: "hub", hub: "h", item: "hello", version, digest },
      },
    });
    const dsl =
      'flow 1 caller\n\nnode sub: subflow {\n  flow = "h/hello"\n}\n\noutput text = sub.outputs.text\n';
    const run = await post(server, "/api/runs?waitMs=10000", { dsl });
    expect((await run.json()) as Run).toMatchObject({
      summary: { outputs: { text: "Hello, world!" } },
    });
  });

  test("never replaces what is there, unless it was seen and is meant to go", async () => {
    const { server, files, asked } = await withHub();
    await synced(server);
    await invoke(server, "import_template", { text: HELLO.replace("Hello, ", "Mine, ") });
    const refused = await install(server);
    expect(await problemOf(refused)).toMatchObject({ status: 409, code: "already_exists" });
    expect((await install(server, { overwrite: true })).status).toBe(428);
    const stale = { overwrite: true, headers: { "if-match": '"x"' } };
    expect((await install(server, stale)).status).toBe(412);
    expect(asked).toEqual([INDEX]);
    const mine = await fetch(`${server.url}/api/templates/hello`);
    const headers = { "if-match": mine.headers.get("etag") ?? "" };
    const taken = await install(server, { overwrite: true, headers });
    expect(await taken.json()).toMatchObject({ template: { version: 2, source: { kind: "hub" } } });
    const other = await install(server, { slug: "other" });
    expect(await other.json()).toMatchObject({ template: { slug: "other", version: 1 } });
    files.set(INDEX, indexOf([itemOf(HELLO, { version: "1.3.0" })]));
    await synced(server);
    const again = await install(server, { overwrite: true, headers: { "if-match": "*" } });
    const { template } = (await again.json()) as { template: Template };
    expect(template).toMatchObject({ version: 2, source: { version: "1.3.0" } });
  });

  test("is done once for each key", async () => {
    const { server, asked } = await withHub();
    await synced(server);
    const headers = { "idempotency-key": "k" };
    const first = await install(server, { headers });
    const second = await install(server, { headers });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.json()).toEqual(await first.json());
    expect(asked).toEqual([INDEX, FLOW]);
  });

  const big = `flow 1 big // ${"x".repeat(524_288)}\n`;
  const notText = Buffer.from("flow 1 a // \xff\n", "latin1");
  const notFlow = "flow 1 a\n\nnode b: no.such {\n}\n";
  test.each([
    ["shorter than it says", itemOf(HELLO, { bytes: HELLO.length + 1 }), HELLO, "digest_mismatch"],
    ["longer than it says", itemOf(HELLO), `${HELLO}\n`, "digest_mismatch"],
    ["far longer than it says", itemOf(HELLO), "x".repeat(2_000_000), "hub_rejected"],
    ["of another digest", itemOf(HELLO), HELLO.replace("Hello", "Jello"), "digest_mismatch"],
    ["larger than a template may be", itemOf(big), big, "hub_rejected"],
    ["not UTF-8", itemOf(notText), notText, "hub_rejected"],
    ["no valid flow", itemOf(notFlow), notFlow, "flow_invalid"],
  ])("%s is refused, and nothing is written", async (_name, item, content, code) => {
    const { server, files } = await withHub();
    files.set(INDEX, indexOf([item]));
    files.set(FLOW, content);
    await synced(server);
    const response = await install(server);
    expect([response.status, await codeOf(response)]).toEqual([422, code]);
    expect(await templatesOf(server)).toEqual([]);
  });

  test("that is on another host is refused", async () => {
    const { server, files } = await withHub();
    const other = await listenHub();
    await synced(server);
    const location = `${other.url}${FLOW}`;
    files.set(FLOW, (response) => response.writeHead(302, { location }).end());
    expect(await codeOf(await install(server))).toBe("hub_rejected");
    expect(other.asked).toEqual([]);
    files.delete(FLOW);
    expect(await codeOf(await install(server))).toBe("upstream_failed");
    expect(await templatesOf(server)).toEqual([]);
  });

  test("needs a slug where its id is none, and an item that is there", async () => {
    const { server, files } = await withHub();
    files.set(INDEX, indexOf([itemOf(HELLO, { id: "Hello_1" })]));
    expect(await codeOf(await install(server, { item: "Hello_1" }))).toBe("not_found");
    await synced(server);
    expect(await codeOf(await install(server, { item: "Hello_1" }))).toBe("invalid_args");
    expect((await install(server, { item: "Hello_1", slug: "hello" })).status).toBe(201);
    expect(await codeOf(await install(server, { item: "constructor" }))).toBe("not_found");
    expect(await codeOf(await install(server, { hub: "none" }))).toBe("not_found");
  });
});

test("node packs are the operator's to install, and models need what manages them", async () => {
  const { server, files, asked } = await withHub();
  files.set(INDEX, indexOf([NODES, MODEL]));
  await synced(server);
  const pack = await problemOf(await install(server, { item: "pack" }));
  expect(pack).toMatchObject({ status: 409, code: "operator_required" });
  expect(pack.detail).toContain("millrace ext add");
  const model = await install(server, { item: "model" });
  expect([model.status, await codeOf(model)]).toEqual([501, "command_not_wired"]);
  expect(asked).toEqual([INDEX]);
});

describe("a hub in a folder of the operator", () => {
  async function folder(files: { readonly [path: string]: string }): Promise<string> {
    const root = temporaryFolder();
    await writeBelow(root, { "secret.flow": HELLO });
    await writeBelow(join(root, "hub"), files);
    return join(root, "hub");
  }
  const whole = () =>
    folder({ "millrace-hub.json": indexOf([itemOf(HELLO)]), "templates/hello.flow": HELLO });

  test("is there from the start, and installs like any other", async () => {
    const dir = await whole();
    const server = await serve({ hubs: [{ id: "h", dir, name: "Ours" }] });
    const hub = await invoke<Hub>(server, "get_hub", { hubId: "h" });
    expect(hub).toMatchObject({
      name: "Ours",
      kind: "dir",
      provides: ["templates"],
      enabled: true,
    });
    expect(JSON.stringify(hub)).not.toContain(dir);
    expect(await synced(server)).toMatchObject({ serial: 1 });
    expect((await install(server)).status).toBe(201);
  });

  test("cannot be changed or removed by a command", async () => {
    const server = await serve({ hubs: [{ id: "h", dir: await whole() }] });
    const headers = { "if-match": "*" };
    const path = "/api/hubs/h";
    const change = { url: "https://a.example" };
    const changed = await post(server, path, change, { method: "PATCH", headers });
    expect(await problemOf(changed)).toMatchObject({ status: 409, code: "operator_required" });
    const removed = await fetch(server.url + path, { method: "DELETE", headers });
    expect(await codeOf(removed)).toBe("operator_required");
  });

  test("is read, and no link leads out of it", async () => {
    const dir = await folder({ "millrace-hub.json": indexOf([itemOf(HELLO)]) });
    await mkdir(join(dir, "templates"));
    await symlink(join(dir, "../secret.flow"), join(dir, "templates/hello.flow"));
    const server = await serve({ hubs: [{ id: "h", dir }] });
    await synced(server);
    expect(await codeOf(await install(server))).toBe("hub_rejected");
    await rm(join(dir, "templates"), { recursive: true });
    await symlink(join(dir, ".."), join(dir, "templates"));
    await writeFile(join(dir, "../hello.flow"), HELLO);
    expect(await codeOf(await install(server))).toBe("hub_rejected");
    await rm(join(dir, "millrace-hub.json"));
    expect(await codeOf(await sync(server))).toBe("upstream_failed");
    await writeFile(join(dir, "../index.json"), indexOf([], { serial: 2 }));
    await symlink(join(dir, "../index.json"), join(dir, "millrace-hub.json"));
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
    expect(await templatesOf(server)).toEqual([]);
  });

  test("takes the place of one that was added, and goes when it is configured no longer", async () => {
    const store = temporaryFolder();
    const restart = async (options: StartOptions) => serve({ ...EGRESS, ...options, store });
    const { url } = await listenHub();
    const first = await restart({});
    await add(first, `${url}/hub`);
    await synced(first);
    await first.close({ graceMs: 0 });
    const hubs = [{ id: "h", dir: await whole() }];
    const second = await restart({ hubs });
    expect(await invoke(second, "get_hub", { hubId: "h" })).not.toHaveProperty("serial");
    const hub = await synced(second);
    await second.close({ graceMs: 0 });
    const third = await restart({ hubs });
    expect(await invoke(third, "get_hub", { hubId: "h" })).toEqual(hub);
    await third.close({ graceMs: 0 });
    const fourth = await restart({});
    expect(await invoke(fourth, "list_hubs", {})).toEqual({ items: [], nextCursor: null });
  });

  test.each([
    ["no list", {}],
    ["an id that is no slug", [{ id: "A", dir: "/a" }]],
    [
      "an id twice",
      [
        { id: "a", dir: "/a" },
        { id: "a", dir: "/b" },
      ],
    ],
    ["a folder that is not absolute", [{ id: "a", dir: "a" }]],
    ["something else to provide", [{ id: "a", dir: "/a", provides: ["programs"] }]],
  ])("%s is no option", async (_name, hubs) => {
    await expect(serve({ hubs: hubs as never })).rejects.toMatchObject({ code: "option_invalid" });
  });
});
