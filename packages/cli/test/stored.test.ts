/** Templates, schedules and hubs: the built command against a real server. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { ASKS, HELLO, steady, transcript, world } from "./api-world.ts";
import { scratch } from "./cli.ts";
import { inside, millrace, refusals } from "./inside.ts";

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
  await refusals(
    (words) => at.inside(["templates", ...words]),
    [
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
    ],
  );
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
  const lines = ["list", `show ${id}`, `next ${id} -n 3`, `pause ${id}`, `resume ${id}`].concat([
    `run-now ${id}`,
    `remove ${id}`,
  ]);
  expect(await transcript(at, lines, "schedule")).toMatchInlineSnapshot(`
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
  await refusals(
    (words) => at.inside(["schedule", "add", ...words]),
    [
      ["--template hello --cron nope", 2, "cron must have five or six fields"],
      ["--template hello --cron nope --every 1h", 2, "exactly one of --cron, --every and --at"],
      ["--template hello", 2, "exactly one of"],
      ["--template hello --every 10", 2, "--every takes a duration"],
      ["--template hello --at tomorrow", 2, "at "],
      ["--template nope --every 1h", 6, "there is no such template"],
      ["--every 1h", 2, "needs --template"],
      ["--template hello --every 1h -i nme=Ada", 2, "no input nme"],
      ["--template hello --every 1h --overlap maybe", 2, "--overlap takes skip, queue or allow"],
    ],
  );
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
