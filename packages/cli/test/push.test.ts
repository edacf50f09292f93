/** `millrace push` and `millrace pull`: a folder of flows and a server, each of which may have changed. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { steady, world } from "./api-world.ts";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const say = (word: string): string => `flow 1 say\n\nnode say: log {\n  message = "${word}"\n}\n`;
const NIGHTLY = `flow 1 nightly

connection tracker: oauth {
  service = "tracker"
}

schedule night {
  cron = "0 3 * * *"
}

node note: log {
  message = "well"
}
`;

test("a folder is pushed whole, says what it only proposes, and neither side loses what it has changed", async () => {
  const at = await world();
  const folder = join(at.cwd, "flows");
  mkdirSync(join(folder, "more"), { recursive: true });
  const file = (name: string) => join(folder, `${name}.flow`);
  writeFileSync(file("say"), say("one"));
  writeFileSync(file("more/nightly"), NIGHTLY);
  const told = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await at.inside(line.split(" "));
    return steady(`[${code}]\n${stdout}${stderr.replace(/^(?=.)/gm, "| ")}`);
  };
  expect(await told("push flows --as repo --dry-run")).toMatchInlineSnapshot(`
    "[0]
    + nightly  created, version 1
    + say  created, version 1
    | would be: 2 created, 0 as they were; nothing is changed
    "
  `);
  expect(await told("push flows --as repo")).toMatchInlineSnapshot(`
    "[0]
    + nightly  created, version 1
    + say  created, version 1
    | 2 created, 0 as they were
    | schedule night, 0 3 * * * (UTC), is proposed and does not fire; millrace schedule add --from nightly activates it
    | connection tracker of nightly is not connected; millrace connect tracker connects it
    "
  `);

  writeFileSync(file("say"), say("two"));
  expect(await told("push flows --as repo --activate --dry-run")).toMatchInlineSnapshot(`
    "[0]
    ~ say  updated, version 2
    --- say	there
    +++ say	here
    @@ -1,5 +1,5 @@
     flow 1 say
     
     node say: log {
    -  message = "one"
    +  message = "two"
     }
    | would be: 1 updated, 1 as it was; nothing is changed
    "
  `);
  expect(await told("push flows --as repo --activate")).toMatchInlineSnapshot(`
    "[0]
    ~ say  updated, version 2
    | 1 updated, 1 as it was
    | schedule night of nightly fires next at TIME
    "
  `);

  const edited = { slug: "say", dsl: say("theirs"), ifMatch: "*" };
  await at.invoke("save_template", edited);
  expect(await told("pull flows"), "what is here is what was pushed").toMatchInlineSnapshot(`
    "[0]
    flows/say.flow
    | 1 written, 1 as it was
    "
  `);
  expect(readFileSync(file("say"), "utf8")).toBe(say("theirs"));
  await at.invoke("save_template", { ...edited, dsl: say("again") });
  writeFileSync(file("say"), say("mine"));
  expect(await told("pull flows")).toMatchInlineSnapshot(`
    "[1]
    | error: changed here since the last push or pull: flows/say.flow; nothing is written; millrace push stores them; --force overwrites them
    "
  `);
  expect(await told("push flows --as repo")).toMatchInlineSnapshot(`
    "[1]
    | error: 1 flow is not as the last push left it: say: version 4 was changed there; nothing is stored; millrace pull brings what is there; --force replaces it
    "
  `);
  expect(await told("push flows --as repo --force")).toMatchInlineSnapshot(`
    "[0]
    ~ say  updated, version 5
    | 1 updated, 1 as it was
    "
  `);

  rmSync(file("more/nightly"));
  writeFileSync(file("bad"), "flow 1 bad\n\nnode x: nothing {\n}\n");
  writeFileSync(file("worse"), "flow 1 worse\nnode x\n");
  expect(await told("push flows --as repo --prune")).toMatchInlineSnapshot(`
    "[3]
    | error[FLOW3001] unknown node type nothing
    |  flows/bad.flow:3:9
    |  3 | node x: nothing {
    |  |  ^
    |  4 | }

    | error[FLOW1006] expected \`:\` and a type, found line end
    |  flows/worse.flow:2:7
    |  1 | flow 1 worse
    |  2 | node x
    |  |  ^

    | error: 2 of 3 flows are wrong: flows/bad.flow:3 unknown node type nothing; flows/worse.flow:2 expected \`:\` and a type, found line end; nothing is stored
    "
  `);
  rmSync(file("bad"));
  rmSync(file("worse"));
  expect(await told("push flows --prune")).toMatchInlineSnapshot(`
    "[2]
    | error: --prune needs --as; give the name to push under: another folder that is called like this one may have pushed as well
    "
  `);
  const { stdout } = await at.inside("push flows --as repo --prune --json".split(" "));
  expect(JSON.parse(stdout)).toMatchObject({
    changes: [{ slug: "nightly", change: "removed" }],
    same: 1,
  });
  expect(await told("schedule list")).toMatchInlineSnapshot(`
    "[0]
    | no schedule; millrace schedule add --template SLUG --every 1h makes one
    "
  `);
});

test("a server that names a template by a path writes nothing, in the folder or beside it", async () => {
  const summary = (slug: string) => ({
    ...{ slug, name: slug, description: "", tags: [], source: { kind: "local" }, version: 1 },
    ...{ digest: `sha256:${"0".repeat(64)}`, updatedAt: "2026-11-26T00:00:00.000Z" },
  });
  const list = { items: [summary("say"), summary("../beside")], nextCursor: null };
  const server = await serveHttp(async (request, response) => {
    const { command } = JSON.parse(await text(request));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(command === "list_templates" ? list : { text: say("theirs") }));
  });
  const cwd = scratch();
  const { port } = server;
  const words = ["pull", "flows", "--server", `http://127.0.0.1:${port}`];
  expect(await inside(words, { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a template "../beside", which is no name of a file'),
  });
  expect(readdirSync(cwd, { recursive: true })).toEqual(["flows"]);
});
