/** Templates, schedules, hubs, the catalog and `invoke`: the built command against a real server. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { COMMANDS } from "@millrace/contracts/commands";
import { expect, onTestFinished, test } from "vitest";
import { ASKS, HELLO, steady, transcript, world } from "./api-world.ts";
import { scratch } from "./cli.ts";
import { inside, millrace } from "./inside.ts";

test("templates are stored, listed, shown, changed, carried and deleted", async () => {
  const at = await world();
  const lines = [
    "templates save hello hello.flow --tag demo",
    "templates import asks.flow",
    "templates list",
    "templates show asks",
    "templates versions hello",
    "templates restore hello 1",
    "templates export hello",
    "templates remove asks",
  ];
  expect(await transcript(at, lines)).toMatchInlineSnapshot(`
    "$ templates save hello hello.flow --tag demo [0]
    | hello is stored, version 1
    $ templates import asks.flow [0]
    | asks is stored, version 1
    $ templates list [0]
    TEMPLATE  VERSION  UPDATED  FROM  NAME
    asks  1  TIME  import  asks
    hello  1  TIME  local  hello
    $ templates show asks [0]
    template  asks
    name  asks
    version  1
    updated  TIME
    from  import
    digest  DIGEST

    flow 1 asks

    node ok: confirm {
      prompt = "Go on?"
    }

    node say: log {
      message = "on"
    }

    ok.approved -> say
    $ templates versions hello [0]
    VERSION  CREATED  DIGEST
    1  TIME  DIGEST
    $ templates restore hello 1 [0]
    | hello is what version 1 was, version 1
    $ templates export hello [0]
    flow 1 hello

    input name: string = "world"

    node say: log {
      message = "Hi \${inputs.name}"
    }

    output text = inputs.name
    $ templates remove asks [0]
    | asks is deleted
    "
  `);
});

test("what is there is not overwritten by mistake, and what is no flow is not stored", async () => {
  const at = await world();
  writeFileSync(join(at.cwd, "bad.flow"), "flow 1 bad\n\nnode a: nope {\n");
  writeFileSync(join(at.cwd, "odd.flow"), "flow 1 odd\n\nnode a: nope {\n}\n");
  writeFileSync(join(at.cwd, "bytes.flow"), Buffer.from([0xff, 0xfe, 0]));
  expect((await at.inside(["templates", "save", "hello", "hello.flow", "--json"])).code).toBe(0);
  const cases: readonly (readonly [words: readonly string[], code: number, says: string])[] = [
    [["save", "hello", "hello.flow", "--new"], 1, "hello: It exists already"],
    [["save", "hello", "hello.flow", "--if-match", '"old"'], 1, "hello: "],
    [["save", "x", "bad.flow"], 3, "bad.flow:3:14"],
    [["save", "x", "odd.flow"], 3, "nope"],
    [["save", "x", "none.flow"], 2, "cannot read none.flow"],
    [["save", "No Slug", "hello.flow"], 2, "slug must be a slug"],
    [["import", "hello.flow"], 1, 'A template "hello" exists'],
    [["import", "bytes.flow"], 2, "bytes.flow is not UTF-8 text"],
    [["show", "nope"], 6, 'there is no template "nope"; millrace templates list shows'],
    [["show", "hello", "--version", "9"], 6, "hello has no such version"],
    [["restore", "hello", "one"], 2, 'the version takes a whole number, found "one"'],
    [["export", "hello", "-o", "no/such/file"], 2, "cannot write no/such/file"],
    [["list", "--limit", "many"], 2, "--limit takes a whole number"],
    [["list", "--cursor", "nope"], 2, "position"],
  ];
  for (const [words, code, says] of cases) {
    const told = await at.inside(["templates", ...words]);
    expect([words, told.code, told.stdout, told.stderr]).toEqual([
      words,
      code,
      "",
      expect.stringContaining(says),
    ]);
  }
  await at.inside(["templates", "export", "hello", "-o", "copy.flow"]);
  expect(readFileSync(join(at.cwd, "copy.flow"), "utf8")).toBe(HELLO);
  await at.inside(["templates", "import", "-", "--slug", "b"], { stdin: ASKS });
  const first = await at.inside(["templates", "list", "--limit", "1"]);
  const [, cursor = ""] = /--cursor (\S+)/.exec(first.stderr) ?? [];
  const second = await at.inside(["templates", "list", "--cursor", cursor]);
  expect(second.stdout).toContain("hello");
  expect(second.stdout).not.toMatch(/^b /m);
});

const NIGHTLY = `flow 1 nightly

input name: string = "world"

schedule night {
  cron = "0 3 * * *"
  timezone = "Europe/Berlin"
  inputs = { name: "Ada" }
}

schedule often {
  every = 15m
  enabled = false
}

node say: log {
  message = "Hi \${inputs.name}"
}
`;

test("a schedule of a flow is shown as proposed until a person activates it, once however often", async () => {
  const at = await world();
  writeFileSync(join(at.cwd, "nightly.flow"), NIGHTLY);
  const told = async (line: string) => {
    const { code, stdout, stderr } = await at.inside(line.split(" "));
    return steady(`[${code}]\n${stdout}${stderr}`);
  };
  const night =
    "schedule night, 0 3 * * * (Europe/Berlin), is proposed and does not fire; millrace schedule add --from";
  expect(await told("validate nightly.flow")).toContain(`${night} nightly.flow activates it`);
  expect(await told("validate nightly.flow --json")).toContain('"proposed":[{"name":"night"');
  expect(await told("templates save nightly nightly.flow")).toContain(
    `[0]\nnightly is stored, version 1\n${night} nightly activates it\nschedule often, every 15m`,
  );
  expect(await told("schedule list")).toBe(
    "[0]\nSCHEDULE  TEMPLATE  WHEN  NEXT  LAST  REMARK\n" +
      "night  nightly  0 3 * * * (Europe/Berlin)  proposed  -  not active: schedule add --from\n" +
      "often  nightly  every 15m  proposed  -  not active: schedule add --from\n",
  );
  expect(await told("schedule add --from nightly --name night")).toBe(
    "[0]\nSCH\nschedule night of nightly fires next at TIME\n",
  );
  const [stored] = JSON.parse(await at.invoke("list_schedules")).items;
  expect(stored).toMatchObject({ name: "night", inputs: { name: "Ada" }, enabled: true });
  for (const line of ["schedule add --from nightly.flow", "templates save n nightly.flow"]) {
    expect(await told(line)).toContain("[0]");
  }
  writeFileSync(join(at.cwd, "nightly.flow"), NIGHTLY.replace("0 3", "0 4"));
  expect(await told("templates save nightly nightly.flow")).toContain("schedule night, 0 4 * * *");
  expect(await told("templates save nightly nightly.flow --activate")).toBe(
    "[0]\nnightly is stored, version 2\nschedule night of nightly fires next at TIME\n" +
      "schedule often of nightly is stored, and paused\n",
  );
  const { items, proposed } = JSON.parse(await at.invoke("list_schedules"));
  expect(items).toHaveLength(2);
  expect(items[0]).toMatchObject({ id: stored.id, cron: "0 4 * * *" });
  expect(proposed.map(({ template }: { template: string }) => template)).toEqual(["n", "n"]);
});

test.each([
  ["--from hello", "hello declares no schedule; millrace schedule add --template hello"],
  ["--from nightly --name nope", 'nightly declares no schedule "nope"; it declares night, often'],
  ["--from nightly --every 1h", "--from does not go with --every"],
  ["--from nothing", 'there is no template "nothing"'],
])("schedule add %s is refused", async (words, says) => {
  const at = await world();
  await at.invoke("save_template", { slug: "hello", dsl: HELLO });
  await at.invoke("save_template", { slug: "nightly", dsl: NIGHTLY });
  const told = await at.inside(["schedule", "add", ...words.split(" ")]);
  expect(told.stderr).toContain(says);
  expect(told.code).toBeGreaterThan(0);
  expect(JSON.parse(await at.invoke("list_schedules")).items).toEqual([]);
});

test("schedules are made, shown, paused, started by hand and deleted", async () => {
  const at = await world();
  await at.invoke("save_template", { slug: "hello", dsl: HELLO });
  const added = await at.spawned(
    "schedule add --template hello --at 2099-01-02T03:04:05Z -i name=Ada",
  );
  expect(added).toEqual([
    0,
    expect.stringMatching(/^sch_\w+\n$/),
    "hello fires next at 2099-01-02T03:04:05Z\n",
  ]);
  const id = added[1].trim();
  const lines = ["list", `show ${id}`, `next ${id} -n 3`, `pause ${id}`, `resume ${id}`]
    .concat([`run-now ${id}`, `remove ${id}`])
    .map((line) => `schedule ${line}`);
  expect(await transcript(at, lines)).toMatchInlineSnapshot(`
    "$ schedule list [0]
    SCHEDULE  TEMPLATE  WHEN  NEXT  LAST
    SCH  hello  at TIME  TIME  -
    $ schedule show SCH [0]
    schedule  SCH
    template  hello
    when  at TIME
    timezone  UTC
    state  on
    next  TIME
    overlap  skip
    catch-up  skip
    inputs  {"name":"Ada"}
    $ schedule next SCH -n 3 [0]
    TIME
    $ schedule pause SCH [0]
    | SCH is paused; millrace schedule resume SCH lets it fire again
    $ schedule resume SCH [0]
    | SCH fires next at TIME
    $ schedule run-now SCH [0]
    RUN
    | millrace runs tail RUN follows it
    $ schedule remove SCH [0]
    | SCH is deleted
    "
  `);
  const list = JSON.parse(await at.invoke("list_runs")) as { items: { trigger: string }[] };
  expect(list.items.map(({ trigger }) => trigger)).toEqual(["api"]);
});

test("a schedule says once, and rightly, when", async () => {
  const at = await world();
  await at.invoke("save_template", { slug: "hello", dsl: HELLO });
  const cases: readonly (readonly [words: string, code: number, says: string])[] = [
    ["--template hello --cron nope", 2, "cron must have five or six fields"],
    ["--template hello --cron nope --every 1h", 2, "exactly one of --cron, --every and --at"],
    ["--template hello", 2, "exactly one of"],
    ["--template hello --every 10", 2, "--every takes a duration"],
    ["--template hello --at tomorrow", 2, "at "],
    ["--template nope --every 1h", 6, "there is no such template"],
    ["--every 1h", 2, "needs --template"],
    ["--template hello --every 1h -i nme=Ada", 2, "no input nme"],
    ["--template hello --every 1h --overlap maybe", 2, "--overlap takes skip, queue or allow"],
  ];
  for (const [words, code, says] of cases) {
    const told = await at.inside(["schedule", "add", ...words.split(" ")]);
    expect([words, told.code, told.stdout, told.stderr]).toEqual([
      words,
      code,
      "",
      expect.stringContaining(says),
    ]);
  }
  expect((await at.inside(["schedule", "pause", "sch_none"])).code).toBe(6);
});

test("a hub's item is installed after its digest was shown, by a person or with --yes", async () => {
  const dir = scratch({ "hello.flow": HELLO });
  mkdirSync(join(dir, "templates"));
  writeFileSync(join(dir, "templates/hello.flow"), HELLO);
  const digest = `sha256:${createHash("sha256").update(HELLO).digest("hex")}`;
  const item = {
    id: "hello",
    kind: "template",
    version: "1.0.0",
    digest,
    bytes: Buffer.byteLength(HELLO),
    path: "templates/hello.flow",
    title: "Hello\u001b[31m",
  };
  const index = { millraceHub: 1, name: "Ours", serial: 1, items: [item] };
  writeFileSync(join(dir, "millrace-hub.json"), JSON.stringify(index));
  const at = await world({ hubs: [{ id: "ours", dir }] });
  const lines = [
    "hubs add https://hub.example/flows --provides templates",
    "hubs sync ours",
    "hubs list",
    "hubs items ours",
    "hubs install ours/hello --yes --slug greeting",
    "hubs remove hub-example",
  ];
  expect(await transcript(at, lines)).toMatchInlineSnapshot(`
    "$ hubs add https://hub.example/flows --provides templates [0]
    hub-example
    | millrace hubs sync hub-example fetches what it offers
    $ hubs sync ours [0]
    | ours is at 1, synced TIME
    $ hubs list [0]
    HUB  STATE  PROVIDES  SYNCED  URL
    hub-example  on  templates  -  https://hub.example/flows
    ours  on  templates  TIME  dir:ours
    $ hubs items ours [0]
    ITEM  KIND  VERSION  SIZE  TITLE
    ours/hello  template  1.0.0  121 B  Hello�[31m
    $ hubs install ours/hello --yes --slug greeting [0]
    | item  ours/hello
    | kind  template
    | title  Hello�[31m
    | version  1.0.0
    | size  121 B
    | digest  DIGEST
    | greeting is stored, version 1
    $ hubs remove hub-example [0]
    | hub-example is forgotten
    "
  `);
  const refused = await at.inside(["hubs", "install", "ours/hello", "--json"]);
  expect([refused.code, refused.stdout, JSON.parse(refused.stderr)]).toEqual([
    4,
    "",
    expect.objectContaining({ detail: expect.stringContaining(digest) }),
  ]);
  const keys = (answer: string) => ({ terminal: true, keys: Readable.from([answer]) });
  const no = await at.inside(["hubs", "install", "ours/hello"], keys("n\n"));
  expect([no.code, no.stderr.includes(digest)]).toEqual([4, true]);
  expect(JSON.parse(await at.invoke("list_templates")).items).toHaveLength(1);
  expect((await at.inside(["hubs", "install", "ours/hello"], keys("y\n"))).code).toBe(0);
  const again = await at.inside(["hubs", "install", "ours/hello", "--yes"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("exists")]);
  expect((await at.inside(["hubs", "install", "ours/hello", "--yes", "--overwrite"])).code).toBe(0);
  expect((await at.inside(["hubs", "install", "ours/none", "--yes"])).code).toBe(6);
  expect((await at.inside(["hubs", "add", "nowhere"])).code).toBe(2);
});

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
  const page = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>welcome</h1>");
  });
  await new Promise<void>((ready) => page.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void page.close());
  const server = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
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

test("without a server everything happens in the data directory, and a schedule says what fires it", async () => {
  const cwd = scratch({ "hello.flow": HELLO });
  const env = { MILLRACE_HOME: scratch() };
  const at = (words: string) => inside(words.split(" "), { cwd, env });
  expect(await millrace(["templates", "save", "hello", "hello.flow"], { cwd, env })).toEqual({
    code: 0,
    signal: null,
    stdout: "",
    stderr: "hello is stored, version 1\n",
  });
  const added = await at("schedule add --template hello --every 1h");
  expect([added.code, added.stderr]).toEqual([
    0,
    expect.stringContaining("a schedule fires only while a server runs here: millrace serve"),
  ]);
  const listed = await at("schedule list --json");
  const started = await at('invoke start_run {"template":"hello"}');
  expect(JSON.parse(listed.stdout).items).toHaveLength(1);
  expect([started.code, JSON.parse(started.stdout)]).toEqual([
    0,
    { runId: expect.any(String), status: "pending" },
  ]);
  expect(started.stderr).toContain("summary         succeeded");
});

const CALLED =
  "flow 1 called\n\ninput call: object\n\noutput method: string = inputs.call.method\n";

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
