/** Values of a configuration: which ones no command takes, and what of them a run that was refused asks for. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const READ = flow("node wait: log {", '  message = "hi"', "}");

test.each([
  [{ egress: { allow: ["127.0.0.1"] } }, '/egress/allow/0 takes {"host"'],
  [
    { egress: { allow: [{ host: "http://a.example" }] } },
    '/egress/allow/0 "http://a.example" is not a host',
  ],
  [
    { egress: { deny: [{ cidr: "10.0.0/8" }] } },
    '/egress/deny/0 "10.0.0/8" is not an address range',
  ],
  [{ egress: { allow: [{ host: "a.example", port: 0 }] } }, "/egress/allow/0/port takes a port"],
  [{ egress: { allow: [{ host: "a.example", ports: 1 }] } }, "/egress/allow/0/ports is not known"],
  [{ egress: { allow: {} } }, "egress.allow takes a list"],
  [{ egress: { maxRedirects: "many" } }, "egress.maxRedirects takes a whole number"],
  [{ files: { root: 5 } }, "files.root takes text"],
  [{ history: "yes" }, "history takes true or false"],
  [{ hubs: {} }, "hubs takes a list"],
  [{ models: [] }, "models takes an object"],
  [{ providers: { x: { kind: 3 } } }, "x"],
])("%j ends every command with 2, and is not trusted", async (config, says) => {
  const cwd = scratch({ "millrace.json": JSON.stringify(config), "x.flow": READ });
  const trusted = await inside(["config", "trust"], { cwd });
  expect([trusted.code, trusted.stderr.includes("is trusted")]).toEqual([2, false]);
  expect(trusted.stderr).toContain(says);
  if (Object.hasOwn(config, "providers")) return; // read when a flow asks a model
  for (const line of ["run x.flow", "services list", "templates list"]) {
    const told = await inside(line.split(" "), { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
    expect([line, told.code], told.stderr).toEqual([line, 2]);
    expect(told.stderr).toContain(says);
  }
});

const FETCH = flow(
  "node a: http.request {",
  "  url = inputs.url",
  "}",
  "",
  "output s: int = a.status",
).replace("flow 1 x\n", "flow 1 x\n\ninput url: string\n");

test("a host that is not permitted is permitted by the command that the run ends with", async () => {
  const server = await serveHttp((_request, response) => response.end("hello"));
  const host = `127.0.0.1:${server.port}`;
  const words = ["run", "x.flow", "-i", `url=http://${host}/`];
  const follow = async (cwd: string): Promise<string> => {
    const { code, stderr } = await inside(words, { cwd });
    expect([code, stderr.includes("egress.allow")], stderr).toEqual([1, true]);
    for (const [, line = ""] of stderr.matchAll(/^next: millrace (.*)$/gm)) {
      const parts = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, text, word]) => text ?? word ?? "",
      );
      expect((await inside(parts, { cwd })).code, line).toBe(0);
    }
    return stderr;
  };
  const own = scratch({ "x.flow": FETCH });
  expect(await follow(own)).toContain("--user\n");
  expect((await inside(words, { cwd: own })).code).toBe(0);
  const allow = [{ host: "a.example" }];
  const project = scratch({
    "x.flow": FETCH,
    "millrace.json": JSON.stringify({ egress: { allow } }),
  });
  await inside(["config", "trust"], { cwd: project });
  expect(await follow(project)).toContain("--project\nnext: millrace config trust\n");
  expect((await inside(words, { cwd: project })).code).toBe(0);
  const written = JSON.parse(readFileSync(join(project, "millrace.json"), "utf8"));
  expect(written.egress.allow[0]).toEqual({ host: "a.example" });
  const egress = { allow: [{ host }] };
  const short = scratch({ "x.flow": FETCH, "millrace.json": JSON.stringify({ egress }) });
  const told = await inside(words, { cwd: short, env: { MILLRACE_TRUST_PROJECT: "1" } });
  expect(told.code, `a host with its port: ${told.stderr}`).toBe(0);
});

test("a program that may not run is named by the command that the run ends with", async () => {
  const text = flow(
    "node a: shell.exec {",
    '  program = "greet"',
    "}",
    "",
    "output s: any = a.stdout",
  );
  const next = async (cwd: string): Promise<string> => {
    const { code, stderr } = await inside(["run", "x.flow"], { cwd });
    expect(code, stderr).toBe(1);
    return stderr.slice(stderr.indexOf("next: "));
  };
  const words = "next: millrace config set shell.programs";
  expect(await next(scratch({ "x.flow": text }))).toBe(
    `${words} '{"NAME":"/PATH/TO/PROGRAM"}' --user\n`,
  );
  const shell = { programs: { git: "/programs/git" } };
  const project = scratch({ "x.flow": text, "millrace.json": JSON.stringify({ shell }) });
  await inside(["config", "trust"], { cwd: project });
  expect(await next(project)).toBe(
    `${words} '{"git":"/programs/git","greet":"/PATH/TO/PROGRAM"}' --project\nnext: millrace config trust\n`,
  );
});

test.each([
  ["egress.allow", '["127.0.0.1:7101"]', '/egress/allow/0 takes {"host"'],
  [
    "egress.deny",
    '[{"host":"http://a.example"}]',
    '/egress/deny/0 "http://a.example" is not a host',
  ],
  ["shell.programs", '{"git":"git"}', 'shell.programs: "git" takes the whole path'],
  ["shell.programs.git", "git", 'shell.programs: "git" takes the whole path'],
  ["shell.env", "[1]", "shell.env takes a list of names"],
  ["extensions", '["a","a"]', "extensions takes packages once each"],
])("%s is not written with a value that a start refuses", async (key, value, why) => {
  const cwd = scratch({ "millrace.json": "{}" });
  const { code, stderr } = await inside(["config", "set", key, value], { cwd });
  expect(code, stderr).toBe(2);
  expect(stderr).toContain(why);
  expect(readFileSync(join(cwd, "millrace.json"), "utf8")).toBe("{}");
});
