/** Hubs and their indexes, behind a real HTTPS server: added, synced, refused. */
import { generateKeyPairSync, sign } from "node:crypto";
import type { Hub, HubItem, Page } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import {
  add,
  codeOf,
  INDEX,
  indexOf,
  install,
  itemOf,
  itemsOf,
  listenHub,
  MODEL,
  NODES,
  sync,
  synced,
  templatesOf,
  withHub,
} from "./support/hubs.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";

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
    for (const more of [{ publicKey }, { id: "../a" }, { kind: "dir" }]) {
      expect(await codeOf(await add(server, "https://a.example", more))).toBe("invalid_args");
    }
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

  test("whatever is wrong with it", async () => {
    const { server, files, url } = await withHub();
    for (const [name, index] of cases) {
      // A new hub each time: one that took a bad index may have a serial from which it takes no good one.
      const headers = { "if-match": "*" };
      await fetch(`${server.url}/api/hubs/h`, { method: "DELETE", headers });
      await add(server, `${url}/hub`);
      files.set(INDEX, indexOf([itemOf(HELLO)]));
      await synced(server);
      files.set(INDEX, index);
      const response = await sync(server);
      const { code } = (await response.json()) as { readonly code?: string };
      expect.soft([name, response.status, code]).toEqual([name, 422, "hub_rejected"]);
      expect.soft((await itemsOf(server)).items, name).toEqual([itemOf(HELLO)]);
      const hub = await invoke(server, "get_hub", { hubId: "h" });
      expect.soft(hub, name).toMatchObject({ serial: 1 });
    }
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
