/** The files of the web page: who gets them, in which form, and what they may do. */
import type { Meta } from "@millrace/contracts";
import type { StudioAssets } from "@millrace/server";
import { expect, test } from "vitest";
import { invoke, serve } from "./support/server.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const SCRIPT = "/studio/assets/index-1a2b.js";
const studio: StudioAssets = new Map([
  ["/studio", { body: bytes("<!doctype html>"), type: "text/html", etag: '"p"', immutable: false }],
  [
    SCRIPT,
    {
      body: bytes("plain"),
      br: bytes("brotli"),
      gzip: bytes("gzip"),
      type: "text/javascript",
      etag: '"s"',
      immutable: true,
    },
  ],
]);
const TOKEN = "0123456789abcdef";
const PAGE = { accept: "text/html,*/*" };

test("who has no token gets the files of the page, and nothing else", async () => {
  const { url } = await serve({ studio, tokens: [TOKEN] });
  for (const [path, status] of [
    ["/studio", 200],
    [SCRIPT, 200],
    ["/studio/assets/none.js", 404],
    ["/studio/assets/../../api/meta", 401],
    ["/studio/other", 401],
    ["/api/docs", 401],
    ["/api/meta", 401],
  ] as const) {
    expect((await fetch(url + path)).status, path).toBe(status);
  }
  expect((await fetch(url + SCRIPT, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(url + SCRIPT, { method: "POST" })).status).toBe(401);
});

test("hosts and origins are checked as everywhere", async () => {
  const { url, app } = await serve({ studio });
  const foreign = { origin: "https://example.com" };
  expect((await fetch(`${url}/studio`, { headers: foreign })).status).toBe(403);
  const rebound = new Request("http://example.com/studio", { headers: { host: "example.com" } });
  expect((await app.fetch(rebound)).status).not.toBe(200);
  const embedded = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
  expect((await fetch(url + SCRIPT, { headers: embedded })).status).toBe(403);
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  expect((await app.request("/studio", { headers: link })).status).toBe(200);
});

test("every answer has the policy of the page", async () => {
  const { url } = await serve({ studio });
  for (const path of ["/studio", SCRIPT]) {
    const { headers } = await fetch(url + path);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types millrace-worker$/,
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("permissions-policy")).toContain("camera=()");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
});

test("a file is sent as its reader takes it, and kept by it", async () => {
  const { url } = await serve({ studio });
  const sent = async (encoding: string): Promise<[string | null, string | null, number]> => {
    const request = { headers: { "accept-encoding": encoding } };
    const { headers, status } = await fetch(url + SCRIPT, request).catch(() => {
      throw new Error("the body is no real compression"); // `fetch` would undo it
    });
    return [headers.get("content-encoding"), headers.get("etag"), status];
  };
  expect(await sent("identity")).toEqual([null, '"s"', 200]);
  const { headers } = await fetch(url + SCRIPT, { headers: { "accept-encoding": "identity" } });
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("vary")).toBe("Accept-Encoding");
  for (const [encoding, tag] of [
    ["gzip, br", '"s-br"'],
    ["gzip, br;q=0", '"s-gzip"'],
    ["GZIP ; q=1 ,br  ;  Q=0.000", '"s-gzip"'],
    [`br${" ".repeat(9_000)};q=0,gzip;q=0`, '"s"'],
    ["brotli, *", '"s"'],
    ["identity", '"s"'],
  ] as const) {
    const known = { "accept-encoding": encoding, "if-none-match": tag };
    const answer = await fetch(url + SCRIPT, { headers: known });
    expect([answer.status, answer.headers.get("etag")], encoding).toEqual([304, tag]);
  }
  const page = await fetch(`${url}/studio`);
  expect(page.headers.get("cache-control")).toBe("no-cache");
  expect(await page.text()).toBe("<!doctype html>");
});

test("a browser that opens the bare address is led to the page, a program is not", async () => {
  const { url } = await serve({ studio, tokens: [TOKEN], basePath: "/flows" });
  const manual = { redirect: "manual" } as const;
  const outside = url.replace(/\/flows$/, "");
  const answer = await fetch(`${outside}/flows`, { ...manual, headers: PAGE });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/flows/studio"]);
  expect((await fetch(`${outside}/flows`, manual)).status).toBe(401);
});

test("a browser that finds nothing is told where the page is, a program is not", async () => {
  const { url } = await serve({ studio, basePath: "/flows" });
  const nothing = await fetch(`${url}/dashboard`, { headers: PAGE });
  expect([nothing.status, await nothing.json()]).toEqual([
    404,
    expect.objectContaining({
      code: "route_not_found",
      detail: "There is nothing here; the page of this server is at /flows/studio",
    }),
  ]);
  const program = (await (await fetch(`${url}/dashboard`)).json()) as object;
  expect(program).not.toHaveProperty("detail");
  const { url: bare } = await serve();
  const without = (await (await fetch(`${bare}/dashboard`, { headers: PAGE })).json()) as object;
  expect(without).not.toHaveProperty("detail");
});

test("a server without the page has no such place", async () => {
  const { url } = await serve();
  for (const path of ["/studio", SCRIPT]) expect((await fetch(url + path)).status).toBe(404);
  expect((await fetch(url, { headers: PAGE, redirect: "manual" })).status).toBe(200);
  await expect(serve({ studio: {} as StudioAssets })).rejects.toThrow(
    'option "studio" must be the answer of studioAssets()',
  );
});

test("a server says whether it has the page, and who asks", async () => {
  const open = await invoke<Meta>(await serve({ studio }), "get_meta", {});
  expect([open.features.studio, open.caller]).toEqual([true, { tokenId: null, role: "admin" }]);
  const { url } = await serve({ tokens: [`nightly:run:${TOKEN}`] });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const closed = (await (await fetch(`${url}/api/meta`, { headers })).json()) as Meta;
  expect([closed.features.studio, closed.caller]).toEqual([
    false,
    { tokenId: "nightly", role: "run" },
  ]);
});

test("a tag that a proxy has weakened is known all the same", async () => {
  const { url } = await serve({ studio });
  for (const tags of ['W/"s-br"', '"old", W/"s-br"', 'W/"old",W/"s-br"', "*"]) {
    const headers = { "accept-encoding": "br", "if-none-match": tags };
    expect((await fetch(url + SCRIPT, { headers })).status, tags).toBe(304);
  }
});

test("an answer that also depends on its origin says both", async () => {
  const origin = "https://app.example";
  const { url } = await serve({ studio, allowedOrigins: [origin] });
  const headers = { origin, "accept-encoding": "br", "if-none-match": '"s-br"' };
  const shared = await fetch(url + SCRIPT, { headers });
  expect(shared.headers.get("access-control-allow-origin")).toBe(origin);
  expect(shared.headers.get("vary")).toBe("Origin, Accept-Encoding");
});

test("behind a base path the page needs no token either, and its neighbours do", async () => {
  const { url } = await serve({ studio, tokens: [TOKEN], basePath: "/flows" });
  const at = async (path: string, init: RequestInit = {}) => (await fetch(url + path, init)).status;
  expect([await at("/studio"), await at("/api/meta"), await at("/studio/x")]).toEqual([
    200, 401, 401,
  ]);
  const headers = { authorization: "Bearer wrong" };
  expect(await at("/studio", { headers })).toBe(200);
});

test("what is refused below the page may load nothing", async () => {
  const { url } = await serve({ studio });
  const refused = await Promise.all([
    fetch(`${url}/studio/assets/none.js`, { headers: PAGE }),
    fetch(`${url}/studio/other`, { headers: PAGE }),
    fetch(`${url}/studio`, { method: "POST" }),
    fetch(`${url}/studio`, { headers: { origin: "https://example.com" } }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([404, 404, 405, 403]);
  for (const { headers } of refused) {
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  }
  expect(refused[2]?.headers.get("allow")).toBe("GET, HEAD");
  const known = { "accept-encoding": "br", "if-none-match": '"s-br"' };
  const unchanged = await fetch(url + SCRIPT, { headers: known });
  expect(unchanged.headers.get("content-security-policy")).toContain("script-src 'self'");
  expect(unchanged.headers.get("x-frame-options")).toBe("DENY");
});

test("a head is the answer without its body, over Node and over fetch", async () => {
  const { url, app } = await serve({ studio });
  const init = { method: "HEAD", headers: { "accept-encoding": "identity" } };
  for (const answer of [await fetch(url + SCRIPT, init), await app.request(SCRIPT, init)]) {
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"s"']);
    expect(await answer.text()).toBe("");
  }
});

test("files cannot stand in for what is not the page", async () => {
  const page = studio.get("/studio");
  if (page === undefined) throw new Error("there is no page");
  await expect(serve({ studio: new Map([["/api/meta", page]]) })).rejects.toThrow(
    'option "studio" must be the answer of studioAssets()',
  );
});
