/** The catalog over HTTP. */
import type { CatalogEntry, Page } from "@millrace/contracts";
import { createStandardRegistry } from "@millrace/server/registry";
import { expect, test } from "vitest";
import { problemOf, serve } from "./support/server.ts";

const types = createStandardRegistry()
  .entries()
  .map(({ type }) => type);

test("node types are listed by name, page by page, and any of them alone", async () => {
  const server = await serve();
  const list = async (query: string) =>
    (await (await fetch(`${server.url}/api/nodes?${query}`)).json()) as Page<CatalogEntry>;
  expect((await list("limit=200")).items.map(({ type }) => type)).toEqual(types);
  const first = await list("limit=3");
  expect(first.items.map(({ type }) => type)).toEqual(types.slice(0, 3));
  const second = await list(`limit=200&cursor=${first.nextCursor}`);
  expect(second.items.map(({ type }) => type)).toEqual(types.slice(3));
  const one = await fetch(`${server.url}/api/nodes/http.request`);
  expect(await one.json()).toMatchObject({
    type: "http.request",
    state: "ready",
    source: { package: "core" },
  });
});

test("a search looks at type, title, summary and tags", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/nodes?q=HTTP.req`);
  expect(((await response.json()) as Page<CatalogEntry>).items.map(({ type }) => type)).toEqual([
    "http.request",
  ]);
});

test("an unknown node type is not found", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/nodes/no.such`);
  expect(response.status).toBe(404);
  expect(await problemOf(response)).toMatchObject({
    resource: "node",
    instance: "/api/nodes/:type",
  });
});
