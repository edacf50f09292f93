/** Bodies and flows of strangers: what they cost, what they reach, and what they never change. */
import { COMMANDS } from "@millrace/contracts/commands";
import { createServer } from "@millrace/server";
import { serveHttp } from "@millrace/test-support/loopback";
import { describe, expect, onTestFinished, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";
import { readEvents } from "./support/streams.ts";

describe("bodies", () => {
  test.each([
    ["a form", "application/x-www-form-urlencoded", "dsl=flow+1+x"],
    ["text, as a form of another page may send it", "text/plain", JSON.stringify({ dsl: HELLO })],
    ["a form with parts", "multipart/form-data; boundary=x", "--x--"],
    ["JSON of a kind of its own", "application/vnd.x+json", JSON.stringify({ dsl: HELLO })],
    ["JSON in another charset", "application/json; charset=utf-16", JSON.stringify({ dsl: HELLO })],
    ["two types in one", "application/json, text/plain", JSON.stringify({ dsl: HELLO })],
  ])("that are %s start nothing", async (_name, type, body) => {
    const server = await serve();
    const headers = { "content-type": type };
    const response = await fetch(`${server.url}/api/runs`, { method: "POST", headers, body });
    expect(response.status).toBe(415);
    expect((await problemOf(response)).code).toBe("unsupported_media_type");
    expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
  });

  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "with the key %s are refused, and change no object of the server",
    async (key) => {
      const server = await serve();
      const bodies = [
        `{"dsl":"flow 1 x","${key}":{"polluted":true}}`,
        `{"dsl":"flow 1 x","options":{"${key}":{"polluted":true}}}`,
      ];
      for (const body of bodies) {
        const response = await post(server, "/api/runs", undefined, { body });
        expect(response.status).toBe(422);
        expect((await problemOf(response)).code).toBe("invalid_args");
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  test("with keys of a prototype inside inputs are data like any other", async () => {
    const server = await serve();
    const dsl = "flow 1 x\n\ninput data: object\n\noutput data: object = inputs.data\n";
    const data = { constructor: { prototype: { polluted: true } }, toString: "text" };
    const log = await readEvents(await post(server, "/api/run", { dsl, inputs: { data } }));
    expect(log.at(-1)).toMatchObject({ status: "succeeded", outputs: { data } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("that are deep, huge or broken cost little and break nothing", async () => {
    const server = await serve();
    const hostile = [
      [`${"[".repeat(400_000)}`, 400],
      [`{"dsl":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, 400],
      [`{"dsl":"${"x".repeat(2_000_000)}"}`, 413],
      [`{"dsl":"\\ud800"}`, 422],
      ['{"dsl":"x"', 400],
      ['{"dsl":"x"}{"dsl":"x"}', 400],
      ["\ufeff{}", 400],
      ["NaN", 400],
    ] as const;
    for (const [body, status] of hostile) {
      const response = await post(server, "/api/runs", undefined, { body });
      expect(response.status, body.slice(0, 20)).toBe(status);
      await response.text();
    }
    expect(await invoke(server, "get_meta", {})).toMatchObject({ name: "millrace" });
  });

  test("never name a path of the server", () => {
    const suspicious = /(?:^|_)(?:file|path|dir|folder)s?$/i;
    const found = [...COMMANDS.values()].flatMap(({ name, args }) =>
      Object.keys(args.toJSONSchema({ io: "input" }).properties ?? {})
        .filter((argument) => suspicious.test(argument))
        .map((argument) => `${name}.${argument}`),
    );
    expect(found).toEqual([]);
  });
});

describe("flows of strangers", () => {
  const FETCH = (url: string) =>
    `flow 1 x\n\nnode get: http.request {\n  url = ${JSON.stringify(url)}\n}\n`;

  test("are validated, formatted, converted and stored without a request, a file or a process", async () => {
    let asked = 0;
    const server = await serve();
    const { url } = await serveHttp((_request, response) => {
      asked += 1;
      response.end();
    });
    const dsl = FETCH(`${url}/`);
    await invoke(server, "validate_flow", { dsl });
    await invoke(server, "format_flow", { dsl });
    await invoke(server, "convert_flow", { dsl });
    await invoke(server, "save_template", { slug: "kept", dsl });
    await invoke(server, "import_template", { slug: "imported", text: dsl });
    expect(asked).toBe(0);
    expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
  });

  test("do not reach private addresses, nor the server that runs them", async () => {
    const server = await serve();
    const own = `${server.url}/api/meta`;
    for (const url of [own, "http://localhost:1/", "http://169.254.169.254/", "http://[::1]:1/"]) {
      const log = await readEvents(await post(server, "/api/run", { dsl: FETCH(url) }));
      expect(log.at(-1), url).toMatchObject({ status: "failed", error: { code: "egress_denied" } });
    }
  });

  test("read no file and run no JavaScript", async () => {
    const server = await serve();
    const expressions = ["constructor.constructor('return process')()", "this", "process.env"];
    for (const expression of expressions) {
      const dsl = `flow 1 x\n\nnode a: transform {\n  value = ${expression}\n}\n`;
      const response = await post(server, "/api/run", { dsl });
      expect(response.status, expression).toBe(422);
      expect((await problemOf(response)).code).toBe("flow_invalid");
    }
    const dsl = 'flow 1 x\n\nnode a: file.read {\n  path = "/etc/passwd"\n}\n';
    const log = await readEvents(await post(server, "/api/run", { dsl }));
    expect(log.at(-1)).toMatchObject({ status: "failed" });
    expect(JSON.stringify(log)).not.toContain("root:");
  });

  test("cannot be widened by a command: what limits them is in no argument", async () => {
    const { app, close } = await createServer({ store: "memory", log: keepLog() });
    onTestFinished(() => close({ graceMs: 0 }));
    const admin = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
    for (const part of ["egress", "files", "shell", "tokens", "host", "allowedOrigins"]) {
      const call = app.invoke("update_settings", { patch: { [part]: {} }, ifMatch: "*" }, admin);
      await expect(call, part).rejects.toMatchObject({ status: 422 });
    }
  });
});
