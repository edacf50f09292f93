/** Hubs: indexes and templates of strangers, behind a real HTTPS server and in a real folder. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import type { Hub, HubItem, Page, Run, Template } from "@millrace/contracts";
import type { RunningServer, StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { type HttpsServer, listenHttps } from "./support/https-server.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";

const INDEX = "/hub/millrace-hub.json";
const FLOW = "/hub/templates/hello.flow";
const EGRESS = { egress: { allow: [{ cidr: "127.0.0.1/32" }] } } as const;

function itemOf(content: string | Uint8Array, more: object = {}): HubItem {
  return {
    id: "hello",
    kind: "template",
    version: "1.2.0",
    digest: `sha256:${createHash("sha256").update(content).digest("hex")}`,
    bytes: Buffer.byteLength(content),
    path: "templates/hello.flow",
    title: "Hello of the hub",
    ...more,
  };
}

function indexOf(items: readonly object[], more: object = {}): string {
  return JSON.stringify({ millraceHub: 1, name: "Example", serial: 1, items, ...more });
}

const NODES = itemOf("", { id: "pack", kind: "nodes", path: "@acme/pack" });
const MODEL = itemOf("", { id: "model", kind: "model", path: "models/a.gguf", bytes: 9e9 });

type Files = Map<string, string | Uint8Array | ((response: ServerResponse) => void)>;

/** A hub behind HTTPS, whose files a test may change. */
async function listenHub(): Promise<HttpsServer & { readonly files: Files }> {
  const files: Files = new Map<string, string>([
    [INDEX, indexOf([itemOf(HELLO)])],
    [FLOW, HELLO],
  ]);
  const server = await listenHttps(({ url = "" }, response) => {
    const file = files.get(url);
    if (typeof file === "function") file(response);
    else response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  return { ...server, files };
}

function add(server: RunningServer, url: string, more: object = {}): Promise<Response> {
  const hub = { id: "h", name: "Example", url, provides: ["templates", "nodes", "models"] };
  return post(server, "/api/hubs", { ...hub, ...more });
}

/** A server with the hub `h`. */
async function withHub(more: object = {}, options: StartOptions = {}) {
  const hub = await listenHub();
  const server = await serve({ ...EGRESS, ...options });
  expect((await add(server, `${hub.url}/hub`, more)).status).toBe(201);
  return { ...hub, server };
}

const sync = (server: RunningServer, id = "h") => post(server, `/api/hubs/${id}/sync`, {});

async function synced(server: RunningServer, id = "h"): Promise<Hub> {
  const response = await sync(server, id);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Hub;
}

function install(
  server: RunningServer,
  {
    item = "hello",
    hub = "h",
    headers = {},
    ...args
  }: {
    readonly item?: string;
    readonly hub?: string;
    readonly headers?: Record<string, string>;
    readonly slug?: string;
    readonly overwrite?: boolean;
  } = {},
): Promise<Response> {
  return post(server, `/api/hubs/${hub}/items/${item}/install`, args, { headers });
}

async function codeOf(response: Response): Promise<string> {
  return (await problemOf(response)).code;
}

const itemsOf = (server: RunningServer) =>
  invoke<Page<HubItem>>(server, "list_hub_items", { hubId: "h" });
const templatesOf = async (server: RunningServer) =>
  (await invoke<Page<Template>>(server, "list_templates", {})).items.map(({ slug }) => slug);

describe("hubs by address", () => {
  test("are added, shown, changed and removed under the conditions of every change", async () => {
    const server = await serve();
    const response = await add(server, "https://hub.example/a");
    expect(response.status).toBe(201);
    const etag = response.headers.get("etag") ?? "";
    const hub = {
      id: "h",
      name: "Example",
      kind: "https",
      url: "https://hub.example/a",
      provides: ["templates", "nodes", "models"],
      enabled: true,
    };
    expect(await response.json()).toEqual(hub);
    const shown = await fetch(`${server.url}/api/hubs/h`);
    expect([shown.headers.get("etag"), await shown.json()]).toEqual([etag, hub]);
    expect(await codeOf(await add(server, "https://other.example"))).toBe("already_exists");
    await add(server, "https://b.example", { id: "b" });
    const page = await invoke<Page<Hub>>(server, "list_hubs", { limit: 1 });
    expect(page.items.map(({ id }) => id)).toEqual(["b"]);
    const change = (headers: Record<string, string>) =>
      post(server, "/api/hubs/h", { enabled: false }, { method: "PATCH", headers });
    expect((await change({})).status).toBe(428);
    expect((await change({ "if-match": '"x"' })).status).toBe(412);
    const changed = await change({ "if-match": etag });
    expect(await changed.json()).toEqual({ ...hub, enabled: false });
    const remove = (headers: Record<string, string>) =>
      fetch(`${server.url}/api/hubs/h`, { method: "DELETE", headers });
    expect((await remove({})).status).toBe(428);
    expect((await remove({ "if-match": etag })).status).toBe(412);
    expect((await remove({ "if-match": "*" })).status).toBe(204);
    expect((await remove({ "if-match": "*" })).status).toBe(404);
  });

  test("have an address of https and nothing but a place", async () => {
    const server = await serve();
    for (const url of [
      "http://hub.example",
      "file:///etc/passwd",
      "dir:h",
      "/srv/hub",
      "https://",
      "https://user:password@hub.example",
      "https://hub.example/?token=1",
      "https://hub.example/#a",
      "https://hub.example/ b",
    ]) {
      expect(await codeOf(await add(server, url))).toBe("invalid_args");
    }
    const publicKey = Buffer.alloc(31).toString("base64");
    expect(await codeOf(await add(server, "https://a.example", { publicKey }))).toBe(
      "invalid_args",
    );
    expect(await codeOf(await add(server, "https://a.example", { id: "../a" }))).toBe(
      "invalid_args",
    );
    expect(await codeOf(await add(server, "https://a.example", { kind: "dir" }))).toBe(
      "invalid_args",
    );
  });

  test("are nobody's to add but an admin's", async () => {
    const secret = "0123456789abcdef-run";
    const server = await serve({ tokens: [`runner:run:${secret}`] });
    const headers = { authorization: `Bearer ${secret}` };
    const body = { id: "h", name: "H", url: "https://a.example", provides: ["templates"] };
    expect((await post(server, "/api/hubs", body, { headers })).status).toBe(403);
    expect((await fetch(`${server.url}/api/hubs`, { headers })).status).toBe(200);
  });
});

describe("a sync", () => {
  test("keeps the index and installs nothing", async () => {
    const { server, files, asked } = await withHub();
    files.set(INDEX, indexOf([itemOf(HELLO), NODES, MODEL], { serial: 42, more: 1 }));
    expect(await itemsOf(server)).toEqual({ items: [], nextCursor: null });
    const hub = await synced(server);
    expect(hub).toMatchObject({ serial: 42, syncedAt: expect.stringMatching(/Z$/) });
    expect(await invoke(server, "get_hub", { hubId: "h" })).toEqual(hub);
    expect((await itemsOf(server)).items).toEqual([itemOf(HELLO), MODEL, NODES]);
    const first = await invoke<Page<HubItem>>(server, "list_hub_items", { hubId: "h", limit: 1 });
    expect(first.items).toEqual([itemOf(HELLO)]);
    expect(asked).toEqual([INDEX]);
    expect(await templatesOf(server)).toEqual([]);
  });

  test("shows only what the hub may provide", async () => {
    const { server, files } = await withHub({ provides: ["models"] });
    files.set(INDEX, indexOf([itemOf(HELLO), MODEL]));
    await synced(server);
    expect((await itemsOf(server)).items).toEqual([MODEL]);
    expect(await codeOf(await install(server))).toBe("not_found");
  });

  test("takes the same serial again, a higher one, and never a lower one", async () => {
    const { server, files } = await withHub();
    for (const serial of [2, 2, 3]) {
      files.set(INDEX, indexOf([itemOf(HELLO)], { serial }));
      expect(await synced(server)).toMatchObject({ serial });
    }
    files.set(INDEX, indexOf([], { serial: 1 }));
    const response = await sync(server);
    expect(await problemOf(response)).toMatchObject({ status: 422, code: "hub_rejected" });
    expect((await itemsOf(server)).items).toHaveLength(1);
  });

  test("of another address or key begins anew", async () => {
    const { server, files, url } = await withHub();
    files.set(INDEX, indexOf([itemOf(HELLO)], { serial: 9 }));
    files.set("/other/millrace-hub.json", indexOf([], { serial: 1 }));
    await synced(server);
    const change = { hubId: "h", url: `${url}/other/`, ifMatch: "*" };
    const changed = await invoke<Hub>(server, "update_hub", change);
    expect(changed).not.toHaveProperty("serial");
    expect(changed).not.toHaveProperty("syncedAt");
    expect((await itemsOf(server)).items).toEqual([]);
    expect(await synced(server)).toMatchObject({ serial: 1 });
  });

  test("of a hub that is off, or not there, is refused and asks nobody", async () => {
    const { server, asked } = await withHub({ enabled: false });
    expect(await codeOf(await sync(server))).toBe("state_conflict");
    expect(await codeOf(await sync(server, "none"))).toBe("not_found");
    expect(asked).toEqual([]);
  });

  test("goes where the policy of the operator permits, and nowhere else", async () => {
    const { server, asked } = await withHub({}, { egress: {} });
    const response = await sync(server);
    expect(response.status).toBe(502);
    expect((await problemOf(response)).detail).toContain("private-address");
    expect(asked).toEqual([]);
  });

  test("follows a redirect within the hub's own origin", async () => {
    const { server, files, url } = await withHub();
    const index = files.get(INDEX) as string;
    files.set(INDEX, (response) => response.writeHead(302, { location: `${url}/moved` }).end());
    files.set("/moved", index);
    expect(await synced(server)).toMatchObject({ serial: 1 });
  });
});

describe("a hostile index is refused, and the one before stays", () => {
  const path = (bad: string) => indexOf([itemOf(HELLO, { path: bad })], { serial: 2 });
  const cases: readonly (readonly [string, string | Uint8Array])[] = [
    ["no JSON", "<html>"],
    ["not UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
    ["no index", "{}"],
    ["of another version", indexOf([], { millraceHub: 2 })],
    ["without a serial", indexOf([], { serial: null })],
    ["with a serial that is no number we can count with", indexOf([], { serial: 2 ** 53 })],
    [
      "with a key __proto__",
      '{"__proto__":{"serial":9},"millraceHub":1,"name":"a","serial":2,"items":[]}',
    ],
    ["of 1,000 levels", "[".repeat(1_000) + "]".repeat(1_000)],
    ["with an item twice", indexOf([itemOf(HELLO), itemOf(HELLO)])],
    ["with an item of an unknown kind", indexOf([itemOf(HELLO, { kind: "program" })])],
    ["with a digest that is none", indexOf([itemOf(HELLO, { digest: "md5:1" })])],
    ["with a length that is none", indexOf([itemOf(HELLO, { bytes: -1 })])],
    ["with an id that is a path", indexOf([itemOf(HELLO, { id: "../a" })])],
    ["with a path that climbs", path("../secret")],
    ["with a path that climbs later", path("a/../../secret")],
    ["with a path from the root", path("/etc/passwd")],
    ["with a path of Windows", path("..\\secret")],
    ["with an escaped path", path("%2e%2e/secret")],
    ["with an address as path", path("https://other.example/a")],
    ["with another host as path", path("//other.example/a")],
    ["with a hidden file as path", path(".ssh/id")],
    ["with a line end in its path", path("a\r\nHost: b")],
    ["with a query in its path", path("a?b")],
    ["of five megabytes", indexOf([itemOf(HELLO, { title: "x".repeat(5_000_000) })])],
    [
      "of 10,001 items",
      indexOf(Array.from({ length: 10_001 }, (_, i) => itemOf("", { id: `i${i}` }))),
    ],
  ];

  test.each(cases)("%s", async (_name, index) => {
    const { server, files } = await withHub();
    await synced(server);
    files.set(INDEX, index);
    const response = await sync(server);
    expect(response.status).toBe(422);
    expect(await codeOf(response)).toBe("hub_rejected");
    expect((await itemsOf(server)).items).toEqual([itemOf(HELLO)]);
    expect(await invoke(server, "get_hub", { hubId: "h" })).toMatchObject({ serial: 1 });
  });

  test("of a million items that are none is not looked at one by one", async () => {
    const { server, files } = await withHub();
    files.set(INDEX, indexOf(Array.from({ length: 20_000 }, () => ({}))));
    expect(await problemOf(await sync(server))).toMatchObject({
      code: "hub_rejected",
      errors: [{ pointer: "/items", code: "too_big" }],
    });
  });

  test("that never ends", async () => {
    const { server, files } = await withHub();
    files.set(INDEX, (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536, " ");
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
  });

  test("that is elsewhere", async () => {
    const { server, files, url } = await withHub();
    const other = await listenHub();
    for (const location of [`${other.url}${INDEX}`, url.replace("https:", "http:") + INDEX]) {
      files.set(INDEX, (response) => response.writeHead(302, { location }).end());
      expect(await codeOf(await sync(server))).toBe("hub_rejected");
    }
    files.set(INDEX, (response) => response.writeHead(302, { location: INDEX }).end());
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
    expect(other.asked).toEqual([]);
  });

  test("a hub that fails is told apart from one that lies", async () => {
    const { server, files } = await withHub();
    files.set(INDEX, (response) => response.writeHead(500).end("x".repeat(5_000_000)));
    expect(await codeOf(await sync(server))).toBe("upstream_failed");
    files.set(INDEX, (response) => response.destroy());
    expect(await codeOf(await sync(server))).toBe("upstream_failed");
  });
});

describe("a hub with a public key", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const key = { publicKey: Buffer.from(x, "base64url").toString("base64") };

  test("is believed when it has signed its index, and only then", async () => {
    const { server, files } = await withHub(key);
    const index = Buffer.from(files.get(INDEX) as string);
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
    const signature = sign(null, index, privateKey).toString("base64");
    files.set(`${INDEX}.sig`, `${signature}\n`);
    expect(await synced(server)).toMatchObject({ serial: 1, ...key });
    files.set(INDEX, `${index} `);
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
    files.set(`${INDEX}.sig`, "");
    expect(await codeOf(await sync(server))).toBe("hub_rejected");
  });
});

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
    await writeFile(join(root, "secret.flow"), HELLO);
    for (const [path, content] of Object.entries(files)) {
      const file = join(root, "hub", path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
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
