import type { Json, ServiceOperation } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { call, json, portOf, startService } from "./support.ts";

const list = (pagination: ServiceOperation["pagination"]): Partial<ServiceOperation>[] => [
  {
    query: {
      type: "object",
      properties: {
        state: { type: "string" },
        page: { type: "integer" },
        offset: { type: "integer" },
      },
    },
    ...(pagination && { pagination }),
  },
];
const all = { pages: "all", args: { state: "open" } };

/** Items 1 to `total`, `size` a page, by number. */
function numbered(total: number, size: number) {
  return startService(
    (seen, response) => {
      const page = Number(new URL(seen.url, "http://x").searchParams.get("page"));
      const items = Array.from({ length: total }, (_, at) => at + 1);
      json(response, { data: items.slice((page - 1) * size, page * size) });
    },
    list({ kind: "page", param: "page", size, items: "/data" }),
  );
}

describe("all pages are read", () => {
  test("by a cursor in the body", async () => {
    const shop = await startService(
      (seen, response) => {
        const cursor = new URL(seen.url, "http://x").searchParams.get("cursor") ?? "1";
        const next = { "1": "b c", "b c": 3 }[cursor] ?? null;
        json(response, { meta: { next }, items: [cursor] });
      },
      list({ kind: "cursor", param: "cursor", next: "/meta/next", items: "/items" }),
    );
    const { output } = await call(shop, all);
    expect(output).toMatchObject({
      status: 200,
      body: { meta: { next: null } },
      items: ["1", "b c", "3"],
      pageCount: 3,
      truncated: false,
    });
    expect(shop.seen.map(({ url }) => url)).toEqual([
      "/v1/things?state=open",
      "/v1/things?state=open&cursor=b%20c",
      "/v1/things?state=open&cursor=3",
    ]);
  });

  test("by number, until a page is not full", async () => {
    const shop = await numbered(5, 2);
    const { output } = await call(shop, all);
    expect(output).toMatchObject({ items: [1, 2, 3, 4, 5], pageCount: 3, truncated: false });
    expect(shop.seen.at(-1)?.url).toBe("/v1/things?state=open&page=3");
  });

  test("by number from 0 until a page is empty, or from where the call begins", async () => {
    const shop = await startService(
      (seen, response) => {
        const page = Number(new URL(seen.url, "http://x").searchParams.get("page"));
        json(response, page < 2 ? [page] : []);
      },
      list({ kind: "page", param: "page", start: 0, items: "" }),
    );
    expect((await call(shop, all)).output).toMatchObject({ items: [0, 1], pageCount: 3 });
    const later = await call(shop, { pages: "all", args: { page: 1 } });
    expect(later.output).toMatchObject({ items: [1], pageCount: 2 });
  });

  test("by offset and limit", async () => {
    const shop = await startService(
      (seen, response) => {
        const { searchParams } = new URL(seen.url, "http://x");
        const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("n"))];
        json(response, { data: ["a", "b", "c"].slice(offset, offset + limit) });
      },
      list({ kind: "offset", param: "offset", limitParam: "n", limit: 2, items: "/data" }),
    );
    const { output } = await call(shop, all);
    expect(output).toMatchObject({ items: ["a", "b", "c"], pageCount: 2, truncated: false });
    expect(shop.seen.map(({ url }) => url.split("?")[1])).toEqual([
      "state=open&offset=0&n=2",
      "state=open&offset=2&n=2",
    ]);
  });

  test.each([
    ["relative", '</v1/things?p=2>; rel="next"'],
    [
      "with others before it",
      '</a,b>; title="x, <y>; rel=next"; rel=prev, </v1/things?p=2>; REL="last Next"',
    ],
  ])("by a Link header, %s", async (_name, link) => {
    const shop = await startService(
      (seen, response) => {
        if (!seen.url.includes("p=2")) response.setHeader("link", link);
        json(response, [seen.url]);
      },
      list({ kind: "link" }),
    );
    const { output } = await call(shop, all);
    expect(output).toMatchObject({ items: ["/v1/things?state=open", "/v1/things?p=2"] });
  });
});

test("a page that leaves its list out has no items", async () => {
  const shop = await startService(
    (_seen, response) => json(response, { resultSizeEstimate: 0 }),
    list({ kind: "cursor", param: "pageToken", next: "/nextPageToken", items: "/messages" }),
  );
  expect((await call(shop, all)).output).toMatchObject({ items: [], pageCount: 1 });
});

test("pages follow the last item, an address in the answer, or a member of the body, as the service says", async () => {
  const byItem = await startService(
    (seen, response) => {
      const after = new URL(seen.url, "http://x").searchParams.get("after");
      json(response, { data: [{ id: after === null ? "a" : "b" }], more: after === null });
    },
    list({
      kind: "cursor",
      param: "after",
      of: "lastItem",
      next: "/id",
      more: "/more",
      items: "/data",
    }),
  );
  expect((await call(byItem, all)).output).toMatchObject({ items: [{ id: "a" }, { id: "b" }] });
  const byAddress = await startService(
    (seen, response) => {
      json(response, {
        d: [seen.url],
        "@next": seen.url.includes("p=2") ? null : "/v1/things?p=2",
      });
    },
    list({ kind: "link", next: "/@next", items: "/d" }),
  );
  const { output } = await call(byAddress, all);
  expect(output).toMatchObject({ items: ["/v1/things?state=open", "/v1/things?p=2"] });
  const body = {
    contentType: "application/json",
    required: true,
    schema: { type: "object", properties: { state: {}, cursor: { type: "string" } } },
  } as const;
  const byBody = await startService(
    (seen, response) => {
      const next = seen.body.includes("cursor") ? null : "c2";
      json(response, { items: [seen.body], next });
    },
    [
      {
        method: "POST",
        effect: "read",
        body,
        pagination: { kind: "cursor", param: "cursor", in: "body", next: "/next", items: "/items" },
      },
    ],
  );
  expect((await call(byBody, all)).output).toMatchObject({
    items: ['{"state":"open"}', '{"state":"open","cursor":"c2"}'],
  });
});

describe("pages end", () => {
  test("where the call says, and tell that there is more", async () => {
    const shop = await numbered(100, 2);
    const two = await call(shop, { ...all, pages: 2 });
    expect(two.output).toMatchObject({ items: [1, 2, 3, 4], pageCount: 2, truncated: true });
    const three = await call(shop, { ...all, maxItems: 3 });
    expect(three.output).toMatchObject({ items: [1, 2, 3], pageCount: 2, truncated: true });
    const one = await call(shop, { args: { page: 7 } });
    expect(one.output).toEqual(expect.not.objectContaining({ items: expect.anything() }));
  });

  test.each<[string, ServiceOperation["pagination"], Json, { [name: string]: string }, string]>([
    [
      "a cursor that comes again",
      { kind: "cursor", param: "c", next: "/next", items: "/items" },
      { next: "again", items: [] },
      {},
      "decode_failed",
    ],
    [
      "a link that comes again",
      { kind: "link", items: "/items" },
      { items: [] },
      { link: "</v1/x>; rel=next" },
      "decode_failed",
    ],
    [
      "a link to another origin",
      { kind: "link", items: "/items" },
      { items: [] },
      { link: "<http://127.0.0.1:1/v1/x>; rel=next" },
      "egress_denied",
    ],
    [
      "a link beside the base path",
      { kind: "link", items: "/items" },
      { items: [] },
      { link: "</v10/x>; rel=next" },
      "egress_denied",
    ],
    [
      "a link that climbs out of it",
      { kind: "link", items: "/items" },
      { items: [] },
      { link: "</v1/../admin>; rel=next" },
      "egress_denied",
    ],
    [
      "a page without its list",
      { kind: "link", items: "/items" },
      { items: 7 },
      {},
      "decode_failed",
    ],
    [
      "a cursor that is none",
      { kind: "cursor", param: "c", next: "/next", items: "/items" },
      { next: {}, items: [] },
      {},
      "decode_failed",
    ],
  ])("with an error for %s", async (_name, pagination, body, headers, code) => {
    const shop = await startService((_seen, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      json(response, body);
    }, list(pagination));
    expect((await call(shop, all)).error?.code).toBe(code);
    expect(shop.seen.length).toBeLessThanOrEqual(3);
  });

  test("before they are asked for where the operation has none", async () => {
    const shop = await startService(() => {}, list(undefined));
    expect((await call(shop, all)).error?.code).toBe("field_invalid");
    expect(shop.seen).toEqual([]);
  });

  test("with a fresh token when the old one runs out between them", async () => {
    const shop = await startService(
      (seen, response) => {
        const { searchParams } = new URL(seen.url, "http://x");
        const page = Number(searchParams.get("page"));
        const isOld = seen.headers.authorization === "Bearer old-token";
        if (page === 2 && isOld) json(response, {}, 401);
        else json(response, page < 3 ? [page] : []);
      },
      list({ kind: "page", param: "page", items: "" }),
    );
    const { port, calls } = portOf(["old-token", "new-token"]);
    expect((await call(shop, all, { port })).output).toMatchObject({ items: [1, 2] });
    expect(calls.renew).toEqual(["old-token"]);
  });
});
