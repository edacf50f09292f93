/** Templates: named flows whose versions never change. Nothing that is saved, imported or shown is executed. */
import type { Page, Run, Template, TemplateSummary, TemplateVersion } from "@millrace/contracts";
import { digest, formatFlow, parseFlow } from "@millrace/dsl";
import type { RunningServer } from "@millrace/server";
import { createServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

const say = (word: string): string => `flow 1 say\n\nnode say: log {\n  message = "${word}"\n}\n`;

function put(
  server: RunningServer,
  slug: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return post(server, `/api/templates/${slug}`, body, { method: "PUT", headers });
}

async function save(server: RunningServer, slug: string, body: object): Promise<Template> {
  const exists = (await fetch(`${server.url}/api/templates/${slug}`)).status === 200;
  const response = await put(server, slug, body, exists ? { "if-match": "*" } : {});
  expect(response.status).toBe(exists ? 200 : 201);
  return (await response.json()) as Template;
}

async function get<T>(server: RunningServer, path: string): Promise<T> {
  const response = await fetch(`${server.url}/api/templates${path}`);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as T;
}

async function finished(server: RunningServer, request: object): Promise<Run> {
  const response = await post(server, "/api/runs?waitMs=10000", request);
  expect(response.status).toBe(200);
  const { runId } = (await response.json()) as Run;
  return invoke<Run>(server, "get_run", { runId });
}

describe("saving", () => {
  test("keeps the canonical text with its comments, the graph and its digest", async () => {
    const server = await serve();
    const dsl = `flow 1 say // what it says\nnode say:log{message="a"}`;
    const template = await save(server, "first", { dsl, tags: ["a", "b"], description: "Talks" });
    expect(template).toEqual({
      slug: "first",
      name: "first",
      description: "Talks",
      tags: ["a", "b"],
      source: { kind: "local" },
      version: 1,
      digest: digest(parseFlow(dsl).graph),
      dsl: formatFlow(dsl).text,
      graph: parseFlow(dsl).graph,
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(template.dsl).toContain("# what it says");
    expect(await get(server, "/first")).toEqual(template);
    expect((await save(server, "titled", { dsl: HELLO })).name).toBe("Hello");
  });

  test("makes a version when the digest changes, and none when it does not", async () => {
    const server = await serve();
    await save(server, "s", { dsl: say("a"), name: "One", tags: ["kept"] });
    const same = await save(server, "s", { dsl: say("a").replaceAll("\n\n", "\n"), name: "Two" });
    expect(same).toMatchObject({ version: 1, name: "Two", tags: ["kept"] });
    expect(await save(server, "s", { dsl: say("b") })).toMatchObject({ version: 2, name: "Two" });
    expect(await save(server, "s", { dsl: say("a") })).toMatchObject({ version: 3 });
    const first = await get<TemplateVersion>(server, "/s/versions/1");
    expect(first).toMatchObject({ slug: "s", version: 1, dsl: say("a"), digest: same.digest });
    const { items } = await get<Page<TemplateVersion>>(server, "/s/versions?limit=2");
    expect(items.map(({ version }) => version)).toEqual([3, 2]);
  });

  test("makes a version when comments or the layout alone change, and none when blanks do", async () => {
    const server = await serve();
    const { digest: hash } = await save(server, "s", { dsl: say("a") });
    const commented = `# greets\n${say("a")}`;
    const second = await save(server, "s", { dsl: commented });
    expect(second).toMatchObject({ version: 2, dsl: commented, digest: hash });
    const moved = `${commented}\nlayout {\n  say = [10, 20]\n}\n`;
    expect(await save(server, "s", { dsl: moved })).toMatchObject({ version: 3, digest: hash });
    const again = moved.replaceAll("\n\n", "\n");
    expect(await save(server, "s", { dsl: again })).toMatchObject({ version: 3, dsl: moved });
    const { graph } = parseFlow(moved);
    expect(await save(server, "s", { graph })).toMatchObject({ version: 3, dsl: moved });
  });

  test("a graph is kept as text, and the comments of the text before stay", async () => {
    const server = await serve();
    const dsl = say("a").replace("node say", "# greets\nnode say");
    await save(server, "s", { dsl });
    const graph = parseFlow(dsl.replace('"a"', '"b"')).graph;
    const template = await save(server, "s", { graph });
    expect(template).toMatchObject({ version: 2, graph, dsl: dsl.replace('"a"', '"b"') });
    expect((await save(server, "t", { graph })).dsl).toBe(say("b"));
  });

  test.each([
    ["text that does not parse", { dsl: "flow 1 x\n\nnode a: {" }, 3],
    ["an unknown node type", { dsl: "flow 1 x\n\nnode a: no.such {\n}\n" }, 3],
    ["an unknown name", { dsl: say("a").replace('"a"', "inputs.none") }, 4],
  ])("%s is refused with its line, and nothing is kept", async (_name, body, line) => {
    const server = await serve();
    const response = await put(server, "s", body);
    expect(response.status).toBe(422);
    const problem = await problemOf(response);
    expect(problem.code).toBe("flow_invalid");
    expect(problem.errors?.[0]?.line).toBe(line);
    expect(await get(server, "")).toEqual({ items: [], nextCursor: null });
  });

  test("a flow with errors is kept where the caller says so, and does not start", async () => {
    const server = await serve();
    const dsl = say("a").replace('"a"', "inputs.none");
    const template = await save(server, "s", { dsl, takeErrors: true });
    expect(template).toMatchObject({ version: 1, dsl });
    const start = await post(server, "/api/runs", { template: "s" });
    expect(await problemOf(start)).toMatchObject({
      code: "flow_invalid",
      errors: [{ code: "FLOW5001" }],
    });
    // Text that cannot be read has no graph to keep.
    const broken = await put(server, "t", { dsl: "flow 1 x\n\nnode a: {", takeErrors: true });
    expect((await problemOf(broken)).code).toBe("flow_invalid");
  });

  test("a graph that is not valid is refused with its place", async () => {
    const server = await serve();
    const graph = { version: 1, id: "x", nodes: [{ id: "a", type: "no.such" }] };
    const problem = await problemOf(await put(server, "s", { graph }));
    expect(problem).toMatchObject({ code: "flow_invalid", errors: [{ pointer: "/nodes/0/type" }] });
  });

  test("neither or both of text and graph is refused", async () => {
    const server = await serve();
    const { graph } = parseFlow(HELLO);
    for (const body of [{}, { dsl: HELLO, graph }]) {
      expect((await problemOf(await put(server, "s", body))).code).toBe("invalid_args");
    }
  });

  test("what is larger than the limits of the server is refused, as text and as graph", async () => {
    const server = await serve({ maxDslBytes: 400, maxNodes: 2 });
    const long = say("x".repeat(400));
    const many = `${say("a")}\nnode b: log {\n  message = "b"\n}\n\nnode c: log {\n  message = "c"\n}\n`;
    const bodies = [long, many].flatMap((dsl) => [{ dsl }, { graph: parseFlow(dsl).graph }]);
    for (const body of bodies) {
      const problem = await problemOf(await put(server, "s", body));
      expect(problem.errors).toMatchObject([{ code: "limit_exceeded" }]);
    }
  });
});

describe("slugs", () => {
  const BAD = [
    "a..b",
    "A",
    "-a",
    "a-",
    "a_b",
    "ä",
    "x".repeat(65),
    "__proto__",
    "a\r\nb",
    "a/b",
    "",
  ];

  test.each(BAD)("%j is refused", async (slug) => {
    const server = await serve();
    for (const [command, args] of [
      ["save_template", { slug, dsl: HELLO }],
      ["get_template", { slug }],
      ["import_template", { slug, text: HELLO }],
    ] as const) {
      const response = await post(server, "/api/invoke", { command, args });
      expect((await problemOf(response)).code).toBe("invalid_args");
    }
    if (!/[/\r]|^$/.test(slug)) {
      const response = await put(server, encodeURIComponent(slug), { dsl: HELLO });
      expect((await problemOf(response)).code).toBe("invalid_args");
    }
  });

  test("a path that climbs is no path at all", async () => {
    const server = await serve();
    const response = await put(server, "%2e%2e%2fx", { dsl: HELLO });
    expect((await problemOf(response)).code).toBe("bad_target");
  });

  test("a name that every object has is a name like any other", async () => {
    const server = await serve();
    expect((await fetch(`${server.url}/api/templates/constructor`)).status).toBe(404);
    await save(server, "constructor", { dsl: HELLO });
    expect(await get(server, "/constructor")).toMatchObject({ slug: "constructor" });
  });
});

describe("lists", () => {
  test("are in the order of slugs, page by page, and narrowed by text, tag and source", async () => {
    const server = await serve();
    await save(server, "c", { dsl: say("c"), name: "Weather", tags: ["x"] });
    await save(server, "a", { dsl: say("a"), description: "the weather", tags: ["x", "y"] });
    await save(server, "b", { dsl: say("b") });
    await post(server, "/api/templates/import", { text: say("d"), slug: "d" });
    const slugs = async (query: string): Promise<string[]> =>
      (await get<Page<TemplateSummary>>(server, query)).items.map(({ slug }) => slug);
    expect(await slugs("")).toEqual(["a", "b", "c", "d"]);
    expect(await slugs("?q=WEATHER")).toEqual(["a", "c"]);
    expect(await slugs("?tag=x&q=a")).toEqual(["a", "c"]);
    expect(await slugs("?tag=y")).toEqual(["a"]);
    expect(await slugs("?source=import")).toEqual(["d"]);
    const first = await get<Page<TemplateSummary>>(server, "?limit=3");
    expect(first.items[0]).not.toHaveProperty("graph");
    expect(await slugs(`?limit=3&cursor=${first.nextCursor}`)).toEqual(["d"]);
    const other = await fetch(`${server.url}/api/templates?q=x&cursor=${first.nextCursor}`);
    expect((await problemOf(other)).code).toBe("bad_cursor");
  });
});

describe("versions", () => {
  test("an old one becomes the newest, under the same conditions as every change", async () => {
    const server = await serve();
    await save(server, "s", { dsl: say("a") });
    await save(server, "s", { dsl: say("b"), name: "Named" });
    const path = "/api/templates/s/versions/1/restore";
    expect((await post(server, path, {})).status).toBe(428);
    expect((await post(server, path, {}, { headers: { "if-match": '"x"' } })).status).toBe(412);
    const headers = { "if-match": "*", "idempotency-key": "k" };
    const response = await post(server, path, {}, { headers });
    expect(await response.json()).toMatchObject({ version: 3, dsl: say("a"), name: "Named" });
    const again = await post(server, path, {}, { headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toMatchObject({ version: 3 });
    expect(await get(server, "/s")).toMatchObject({ version: 3 });
  });

  test("one that is not there is not found", async () => {
    const server = await serve();
    await save(server, "s", { dsl: say("a") });
    const restore = (slug: string, version: number) =>
      post(
        server,
        `/api/templates/${slug}/versions/${version}/restore`,
        {},
        {
          headers: { "if-match": "*" },
        },
      );
    for (const response of [
      await fetch(`${server.url}/api/templates/s/versions/2`),
      await fetch(`${server.url}/api/templates/t/versions/1`),
      await fetch(`${server.url}/api/templates/t/versions`),
      await restore("s", 2),
      await restore("t", 1),
    ]) {
      expect((await problemOf(response)).code).toBe("not_found");
    }
    expect((await fetch(`${server.url}/api/templates/s/versions/0`)).status).toBe(422);
  });
});

describe("import and export", () => {
  test("text goes in and comes out canonical; its slug is the id of the flow, or another", async () => {
    const server = await serve();
    const text = HELLO.replaceAll("\n\n", "\n");
    const response = await post(server, "/api/templates/import", { text });
    expect(response.status).toBe(201);
    expect(response.headers.get("etag")).toMatch(/^"/);
    expect(await response.json()).toMatchObject({
      slug: "hello",
      name: "Hello",
      source: { kind: "import" },
    });
    await post(server, "/api/templates/import", { text, slug: "other" });
    expect(await get(server, "/other/export")).toEqual({ text: formatFlow(text).text });
    expect((await fetch(`${server.url}/api/templates/none/export`)).status).toBe(404);
  });

  test("a slug that is taken needs overwrite, and then the versions before stay", async () => {
    const server = await serve();
    await save(server, "say", { dsl: say("a") });
    const body = { text: say("b") };
    const refused = await post(server, "/api/templates/import", body);
    expect(await problemOf(refused)).toMatchObject({ status: 409, code: "already_exists" });
    const answer = await post(server, "/api/templates/import", { ...body, overwrite: true });
    expect(await answer.json()).toMatchObject({ version: 2, source: { kind: "import" } });
    expect(await get(server, "/say/versions/1")).toMatchObject({ dsl: say("a") });
  });

  test("what is no flow text, or has an id that is no slug, is refused", async () => {
    const server = await serve();
    const codeOf = async (text: string) =>
      (await problemOf(await post(server, "/api/templates/import", { text }))).code;
    expect(await codeOf(JSON.stringify(parseFlow(HELLO).graph))).toBe("flow_invalid");
    expect(await codeOf("\u0000")).toBe("flow_invalid");
    expect(await codeOf(say("a").replace("1 say", "1 Say_It"))).toBe("invalid_args");
  });
});

describe("deleting", () => {
  test("takes all versions along, and a new one starts at 1", async () => {
    const server = await serve();
    await save(server, "s", { dsl: say("a") });
    await save(server, "s", { dsl: say("b") });
    const remove = () =>
      fetch(`${server.url}/api/templates/s`, { method: "DELETE", headers: { "if-match": "*" } });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await fetch(`${server.url}/api/templates/s/versions/1`)).status).toBe(404);
    expect(await save(server, "s", { dsl: say("c") })).toMatchObject({ version: 1 });
  });

  test("what a schedule or a webhook uses stays", async () => {
    const { app, host, close } = await createServer({ store: "memory", log: keepLog() });
    onTestFinished(() => close({ graceMs: 0 }));
    const caller = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
    const ask = (command: string, args: object) => app.invoke(command, args, caller);
    await ask("save_template", { slug: "s", dsl: HELLO });
    const { schedules, webhooks } = host.store;
    await schedules.put({ id: "sch_1", body: { template: "s" }, enabled: false, nextAt: null });
    await webhooks.put({ id: "whk_1", tokenHash: "h", body: { template: "s" } });
    const remove = () => ask("delete_template", { slug: "s", ifMatch: "*" });
    const users = (usedBy: string[]) => ({ code: "in_use", options: { members: { usedBy } } });
    await expect(remove()).rejects.toMatchObject(users(["sch_1", "whk_1"]));
    await schedules.delete("sch_1");
    await expect(remove()).rejects.toMatchObject(users(["whk_1"]));
    await webhooks.delete("whk_1");
    expect(await remove()).toBeNull();
  });
});

describe("runs", () => {
  test("take the newest version, or the one that is asked for, and keep it", async () => {
    const server = await serve();
    const dsl = (text: string) =>
      `flow 1 s\n\nnode a: transform {\n  value = "${text}"\n}\n\noutput text = a.value\n`;
    await save(server, "s", { dsl: dsl("one") });
    await save(server, "s", { dsl: dsl("two") });
    const newest = await finished(server, { template: "s" });
    expect(newest).toMatchObject({
      template: { slug: "s", version: 2 },
      summary: { status: "succeeded", outputs: { text: "two" } },
    });
    const first = await finished(server, { template: "s", version: 1 });
    expect(first).toMatchObject({
      template: { version: 1 },
      summary: { outputs: { text: "one" } },
    });
    for (const request of [{ template: "none" }, { template: "s", version: 3 }]) {
      expect((await post(server, "/api/runs", request)).status).toBe(404);
    }
  });

  test("of flows that call stored flows find them by slug, version and digest", async () => {
    const server = await serve();
    const { digest: hash } = await save(server, "called", { dsl: `${HELLO}` });
    await save(server, "called", { dsl: HELLO.replace("Hello, ", "Bye, ") });
    const calls = (flow: string) =>
      `flow 1 caller\n\nnode sub: subflow {\n  flow = "${flow}"\n}\n\noutput text = sub.outputs.text\n`;
    const textOf = async (flow: string) =>
      (await finished(server, { dsl: calls(flow) })).summary?.outputs?.["text"];
    expect(await textOf("called")).toBe("Bye, world!");
    expect(await textOf("called@1")).toBe("Hello, world!");
    expect(await textOf(`called#${hash}`)).toBe("Hello, world!");
    for (const flow of ["none", "called@3", `called#sha256:${"0".repeat(64)}`, "hub/called"]) {
      const response = await post(server, "/api/runs", { dsl: calls(flow) });
      expect((await problemOf(response)).code).toBe("flow_invalid");
    }
  });

  test("nothing runs by being stored, and nothing is lost with the process", async () => {
    const dir = temporaryFolder();
    const first = await serve({ store: dir });
    const template = await save(first, "s", { dsl: HELLO });
    expect(await invoke(first, "list_runs", {})).toMatchObject({ items: [] });
    await first.close({ graceMs: 0 });
    const second = await serve({ store: dir });
    expect(await get(second, "/s")).toEqual(template);
  });
});

test("reading needs no more than the role read, writing needs admin", async () => {
  const secret = "0123456789abcdef-read";
  const server = await serve({ tokens: [`reader:read:${secret}`] });
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${server.url}/api/templates`, { headers })).status).toBe(200);
  expect((await put(server, "s", { dsl: HELLO }, headers)).status).toBe(403);
});
