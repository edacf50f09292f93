/** Entity tags and conditions, as every resource that has them obeys them. */
import type { Template } from "@millrace/contracts";
import type { RunningServer, StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { post, problemOf, serve } from "./support/server.ts";

const PATH = "/api/templates/hello";

function put(server: RunningServer, headers: Record<string, string>, name = "Hello") {
  return post(server, PATH, { name, dsl: HELLO }, { method: "PUT", headers });
}

function remove(server: RunningServer, headers: Record<string, string>) {
  return fetch(server.url + PATH, { method: "DELETE", headers });
}

async function saved(options: StartOptions = {}): Promise<{ server: RunningServer; etag: string }> {
  const server = await serve(options);
  const response = await put(server, {});
  expect(response.status).toBe(201);
  return { server, etag: response.headers.get("etag") ?? "" };
}

test("a tag is strong, 22 characters of base64url, and the same for who reads and who writes", async () => {
  const { server, etag } = await saved();
  expect(etag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  expect((await fetch(server.url + PATH)).headers.get("etag")).toBe(etag);
  const again = await put(server, { "if-match": etag });
  const { updatedAt } = (await again.json()) as Template;
  expect(again.headers.get("etag")).toBe(etag); // only the time has changed
  expect(updatedAt).toMatch(/Z$/);
  expect((await put(server, { "if-match": etag }, "Other")).headers.get("etag")).not.toBe(etag);
});

describe("a change or a deletion of what exists", () => {
  test.each([
    ["without If-Match", {}, 428, "precondition_required"],
    ["of another state", { "if-match": '"AAAAAAAAAAAAAAAAAAAAAA"' }, 412, "etag_mismatch"],
    ["of a weak tag", { "if-match": "W/$" }, 412, "etag_mismatch"],
    ["of no tag at all", { "if-match": "x" }, 412, "etag_mismatch"],
  ])("%s is refused", async (_name, headers, status, code) => {
    const { server, etag } = await saved();
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("$", etag)]),
    );
    for (const response of [await put(server, sent, "Other"), await remove(server, sent)]) {
      expect(response.status).toBe(status);
      expect((await problemOf(response)).code).toBe(code);
    }
    expect((await fetch(server.url + PATH)).headers.get("etag")).toBe(etag);
  });

  test.each(["$", "*", '"x", $'])("with %s is made", async (tag) => {
    const { server, etag } = await saved();
    const headers = { "if-match": tag.replace("$", etag) };
    expect((await put(server, headers)).status).toBe(200);
    expect((await remove(server, headers)).status).toBe(204);
    expect((await fetch(server.url + PATH)).status).toBe(404);
  });
});

test("If-None-Match: * creates and never changes; If-Match never creates", async () => {
  const server = await serve();
  expect((await put(server, { "if-match": "*" })).status).toBe(412);
  expect((await put(server, { "if-none-match": "*" })).status).toBe(201);
  for (const more of [{}, { "if-match": "*" }]) {
    const response = await put(server, { "if-none-match": "*", ...more }, "Other");
    expect((await problemOf(response)).code).toBe("etag_mismatch");
  }
});

test("who has it already gets 304 and no body", async () => {
  const { server, etag } = await saved();
  for (const tag of [etag, "*", `"x", ${etag}`]) {
    const response = await fetch(server.url + PATH, { headers: { "if-none-match": tag } });
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expect(response.headers.get("etag")).toBe(etag);
  }
  const response = await fetch(server.url + PATH, { headers: { "if-none-match": '"x"' } });
  expect(response.status).toBe(200);
});

test("by name the condition is an argument, and the tag comes with the answer", async () => {
  const { server, etag } = await saved();
  const ask = (args: object) =>
    post(server, "/api/invoke", { command: "save_template", args: { slug: "hello", ...args } });
  expect((await ask({ dsl: HELLO })).status).toBe(428);
  const answer = await ask({ dsl: HELLO, ifMatch: etag });
  expect([answer.status, answer.headers.get("etag")]).toEqual([200, etag]);
});

test("of two that change the same state at once, one does", async () => {
  const { server, etag } = await saved({ store: temporaryFolder() }); // where a write takes its time
  const names = ["One", "Two", "Three", "Four"];
  const answers = await Promise.all(names.map((name) => put(server, { "if-match": etag }, name)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
});
