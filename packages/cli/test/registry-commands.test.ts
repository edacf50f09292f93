import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "@millrace/contracts/commands";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { HELLO, steady, transcript, world } from "./api-world.ts";
import { inside } from "./inside.ts";

const CALLED =
  "flow 1 called\n\ninput call: object\n\noutput method: string = inputs.call.method\n";

test("the catalog tells its types, and one of them with its fields", async () => {
  const at = await world();
  expect(
    await transcript(at, ["catalog list -q delay", "catalog show delay"]),
  ).toMatchInlineSnapshot(`
    "$ catalog list -q delay [0]
    TYPE  CATEGORY  EFFECT  SUMMARY
    delay  time  pure  Waits for a while or until a time, without holding a slot.
    $ catalog show delay [0]
    type  delay
    title  Delay
    about  Waits for a while or until a time, without holding a slot.
    category  time
    effect  pure
    ports  out error
    source  core

    FIELD  TYPE  ABOUT
    for  number  A duration: \`TOOK\`.
    until  string  ISO 8601; past means at once.
    "
  `);
  const unknown = await at.inside(["catalog", "show", "delai"]);
  expect([unknown.code, unknown.stderr]).toEqual([6, expect.stringContaining("delai")]);
  const narrow = await at.inside(["catalog", "list"], { terminal: true, columns: 20 });
  for (const line of narrow.stdout.trimEnd().split("\n"))
    expect(line.length).toBeLessThanOrEqual(20);
});

test("every command of the registry is reached by its name, and answers as the API does", async () => {
  const at = await world();
  const [code, stdout, stderr] = await at.spawned("invoke list_commands --json");
  expect([code, stdout, stderr]).toEqual([0, `${await at.invoke("list_commands")}\n`, ""]);
  const wired = new Map(
    (JSON.parse(stdout) as { name: string; wired: boolean }[]).map((each) => [
      each.name,
      each.wired,
    ]),
  );
  expect([...wired.keys()].sort()).toEqual([...COMMANDS.keys()].sort());
  for (const [name, isWired] of wired) {
    const told = await at.inside(["invoke", name, "{}", "--json"]);
    const { code: problem } = told.code === 0 ? {} : JSON.parse(told.stderr);
    if (COMMANDS.get(name)?.stream?.only) expect([name, problem]).toEqual([name, "stream_only"]);
    else expect([name, problem === "command_not_wired"]).toEqual([name, !isWired]);
  }
});

test("under --json a query is the answer of the API, byte for byte, and one line", async () => {
  const at = await world();
  await at.invoke("save_template", { slug: "hello", dsl: HELLO });
  const pairs: readonly (readonly [words: string, command: string, args?: object])[] = [
    ["templates list", "list_templates"],
    ["templates show hello", "get_template", { slug: "hello" }],
    ["templates versions hello", "list_template_versions", { slug: "hello" }],
    ["templates export hello", "export_template", { slug: "hello" }],
    ["schedule list", "list_schedules"],
    ["hubs list", "list_hubs"],
    ["catalog list", "list_nodes"],
    ["catalog show http.request", "get_node", { type: "http.request" }],
    ["runs list", "list_runs"],
    ["invoke get_settings", "get_settings"],
  ];
  for (const [words, command, args] of pairs) {
    const { stdout } = await at.inside([...words.split(" "), "--json"]);
    expect([words, stdout]).toEqual([words, `${await at.invoke(command, args)}\n`]);
  }
});

test("invoke takes an object of arguments and no secret, and refuses what it cannot call", async () => {
  const at = await world();
  const cases: readonly (readonly [words: readonly string[], code: number, says: string])[] = [
    [["get_run", "{"], 2, "the arguments is not JSON"],
    [["get_run", "[]"], 2, "not a JSON object"],
    [["get_run", '{"runId":"nope"}'], 6, "there is no such run"],
    [["get_run", '{"id":1}'], 2, "runId"],
    [["get_everything"], 6, 'there is no command "get_everything"'],
    [["subscribe_events"], 2, "GET /api/events"],
    [["set_service_secret", '{"slug":"a","service":"a","value":"s3cret"}'], 2, "give - and stdin"],
  ];
  for (const [words, code, says] of cases) {
    const told = await at.inside(["invoke", ...words]);
    expect([words, told.code, told.stdout, told.stderr]).toEqual([
      words,
      code,
      "",
      expect.stringContaining(says),
    ]);
    expect(told.stderr).not.toContain("s3cret");
  }
  const piped = await at.inside(["invoke", "list_nodes", "-", "--json"], {
    stdin: '{"q":"delay"}',
  });
  expect(JSON.parse(piped.stdout).items).toHaveLength(1);
});

test("a role that does not suffice ends with 5, a server that is none with 6", async () => {
  const at = await world({ tokens: ["reader:read:token-of-a-reader-1"] });
  const env = { MILLRACE_TOKEN: "token-of-a-reader-1" };
  expect((await at.inside(["templates", "list"], { env })).code).toBe(0);
  const refused = await at.inside(["templates", "remove", "hello"], { env });
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringContaining("needs the role admin"),
  ]);
  const page = await serveHttp((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>welcome</h1>");
  });
  const server = page.url;
  for (const words of [
    ["runs", "list"],
    ["runs", "tail", "r1", "--json"],
    ["models", "scan"],
  ]) {
    const told = await at.inside([...words, "--server", server]);
    expect([words, told.code, told.stderr]).toEqual([
      words,
      6,
      expect.stringContaining("not as a Millrace server does"),
    ]);
  }
});

test("a webhook is made, shown, called and deleted; its token is told once, and that it is closed is said", async () => {
  const at = await world({ webhooks: true });
  await at.invoke("save_template", { slug: "called", dsl: CALLED });
  const added = await at.inside(["webhooks", "add", "--template", "called"]);
  expect(added.code, added.stderr).toBe(0);
  const [id = "", url = ""] = added.stdout.trimEnd().split("\n");
  expect(url).toMatch(new RegExp(`^${at.url}/hooks/[\\w-]{43}$`));
  expect(added.stderr).not.toContain("404");
  const called = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect(called.status).toBe(202);
  const { runId } = (await called.json()) as { runId: string };
  const runs = await at.inside(["runs", "list"]);
  expect(steady(runs.stdout)).toMatch(
    /^RUN {2}STATUS {2}FLOW {2}STARTED BY {2}.*\nRUN {2}\w+ {2}called@1 {2}webhook /,
  );
  writeFileSync(join(at.cwd, "event.json"), '{ "action": "opened" }');
  const token = url.slice(url.lastIndexOf("/") + 1);
  for (const words of [["list"], ["show", id], ["list", "--json"], ["show", id, "--json"]]) {
    const told = await at.inside(["webhooks", ...words]);
    expect([told.code, told.stdout.includes(id), told.stdout.includes(token)]).toEqual([
      0,
      true,
      false,
    ]);
  }
  for (const [words, code, says] of [
    [["show", "whk_none"], 6, 'there is no webhook "whk_none"; millrace webhooks list'],
    [["add", "--input", "call"], 2, "webhooks add needs --template SLUG"],
    [["test", "called", "--header", "x-event=a"], 0, 'the webhook answers 202: {"runId":'],
    [["edit"], 2, "nothing is to be changed; give --header, --respond or --within"],
    [["edit", "--respond", "output", "--within", "10s", "--header", "x-event"], 0, "is changed"],
    [["test", "called"], 0, 'the webhook answers 200: {"method":"POST"}'],
    [["pause"], 0, `${id} is paused`],
    [
      ["test"],
      6,
      `the webhook answers 404: There is no such resource; millrace webhooks resume ${id}`,
    ],
    [["resume", id], 0, `${id} answers again`],
    [
      ["rotate", "--new-secret", "--keep", "1h"],
      0,
      "key of its signatures, shown this once: whsec_",
    ],
    [
      ["test", "--example", "github:push"],
      2,
      "signed by millrace, not signed by github; make one with --scheme github: millrace webhooks add --template called",
    ],
    [["add", "--template", "none", "--input", "call"], 6, "there is no such template"],
    [["add", "--template", "called", "--scheme", "github", "--new-secret"], 0, "in call; it is"],
    [
      ["test", "called", "--example", "github:ping"],
      2,
      "shows their ids; then: millrace webhooks test ID --example github:ping",
    ],
    [["pause", "called"], 2, "shows their ids; then: millrace webhooks pause ID"],
    [["remove", id], 0, `${id} is deleted`],
    [["test", "--example", "github:ping"], 0, "the webhook answers 200: pong"],
    [
      ["test", "--body", "event.json"],
      2,
      "give --header x-github-event=issues; the file of --body is what GitHub sends",
    ],
    [["test", "--body", "event.json", "--header", "x-github-event=issues"], 0, "answers 202"],
  ] as const) {
    const told = await at.inside(["webhooks", ...words]);
    expect([told.code, told.stderr.includes(says)], told.stderr).toEqual([code, true]);
  }
  expect((await fetch(url, { method: "POST" })).status).toBe(404);
  // The begin of an id is enough where one run has it, and the last run needs none.
  for (const words of [["show", runId.slice(0, -2)], ["show"], ["tail", runId.slice(0, -2)]]) {
    const told = await at.inside(["runs", ...words]);
    expect([told.code, told.stderr.includes("the last run, of ")], told.stderr).toEqual([
      0,
      words.length === 1,
    ]);
  }
  await at.invoke("start_run", { template: "called", inputs: { call: { method: "GET" } } });
  const both = await at.inside(["runs", "delete", "run_0"]);
  expect([both.code, both.stderr.includes(" runs begin with run_0: run_")]).toEqual([2, true]);
  const none = await at.inside(["runs", "show", "run_none"]);
  expect([none.code, none.stderr.includes('there is no run "run_none"')]).toEqual([6, true]);
});

test("a webhook of a server that answers none says how to open it", async () => {
  const at = await world();
  await at.invoke("save_template", { slug: "called", dsl: CALLED });
  const words = ["webhooks", "add", "--template", "called", "--input", "call"];
  const added = await at.inside(words);
  expect(added.stderr).toContain("webhooks are off; start it with millrace serve --webhooks");
  const here = await inside(["runs", "show"], { cwd: at.cwd });
  expect([here.code, here.stderr.includes("there is no run yet")]).toEqual([6, true]);
});

const FORM = `flow 1 form

node ok: confirm {
  prompt = "How many?"
  schema = {
    type: "object",
    properties: { count: { type: "integer" }, note: { type: "string" } },
    required: ["count"],
  }
}

output count: any = ok.value.count
`;

test("an approval with a schema is filled in at the terminal, a question for each field", async () => {
  const at = await world();
  const { runId } = JSON.parse(await at.invoke("start_run", { dsl: FORM }));
  await expect
    .poll(async () => JSON.parse(await at.invoke("list_confirmations", { runId })).items)
    .toHaveLength(1);
  const words = ["confirm", runId, "ok", "--approve"];
  const empty = await at.inside(words, { terminal: true, stdin: "\n" });
  expect([empty.code, empty.stderr.includes("count is needed")], empty.stderr).toEqual([2, true]);
  const told = await at.inside(words, { terminal: true, stdin: "3\n\n" });
  expect([told.code, told.stderr], told.stderr).toEqual([
    0,
    expect.stringContaining("count (integer): note (string, optional): "),
  ]);
  const [{ value }] = JSON.parse(
    await at.invoke("list_confirmations", { runId, status: "approved" }),
  ).items;
  expect(value).toEqual({ count: 3 });
});
