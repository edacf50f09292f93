/** Every command, by the built binary, one after the other in one project: what it wrote, and how it ended, is in tour.txt. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { notFull, testUnless } from "@millrace/test-support";
import { expect, test } from "vitest";
import { loadCommands } from "../src/argv/spec.ts";
import { NOUNS } from "../src/commands/index.ts";
import { ASKS, steady } from "./api-world.ts";
import { millrace, scratch, start } from "./cli.ts";

/** What the project has before its first command. */
const FILES = {
  "asks.flow": ASKS,
  "nightly.flow":
    'flow 1 nightly\n\nschedule night {\n  cron = "0 3 * * *"\n}\n\noutput n: int = 1\n',
  "openapi.json": JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Pet Shop", version: "1" },
    servers: [{ url: "https://pets.invalid/v1" }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } } },
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          responses: {
            200: { description: "ok", content: { "application/json": { schema: {} } } },
          },
        },
      },
    },
  }),
  "ext/package.json": JSON.stringify({
    name: "@acme/ext",
    version: "1.0.0",
    type: "module",
    files: ["dist", "catalog.json"],
    millrace: { apiVersion: 1, entry: "./dist/extension.js" },
  }),
  "ext/dist/extension.js": `const mark = (kind, value) =>
  Object.freeze({ ...value, apiVersion: 1, [Symbol.for("millrace.extension.v1")]: kind });
const hello = mark("action", {
  name: "hello", title: "Hello", summary: "Greets.", effect: "read", output: { type: "object" },
  fields: { type: "object", properties: {}, additionalProperties: false },
  run: () => ({ text: "hello" }),
});
const adapter = mark("adapter", { id: "acme", title: "Acme", actions: [hello] });
export default mark("extension", { adapters: [adapter], providers: [], nodeTypes: [], services: [] });
`,
};

/**
 * The commands in the order of tour.txt. Parts are apart: each has a project of its own, made by the first lines. RUN and SCH
 * stand for the run and the schedule that were made last.
 */
const PARTS = `
init .
config set credentials.store file
config trust
new second --template hello

fmt flows/hello.flow --check
lsp
mcp
validate flows/hello.flow asks.flow
graph flows/hello.flow
diff flows/hello.flow flows/second.flow
explain FLOW4016
test flows/hello.flow
run flows/hello.flow
run asks.flow --save
runs list
replay RUN
confirm RUN ok --approve
resume RUN
runs show RUN
runs tail RUN
runs retry RUN
runs ack RUN
runs cancel RUN
runs delete RUN
runs prune --before 30d

templates save hello flows/hello.flow
validate nightly.flow
templates save nightly nightly.flow
schedule list
schedule add --from nightly
templates save nightly nightly.flow --activate
schedule remove SCH
templates remove nightly
templates import asks.flow
templates list
templates show hello
templates versions hello
templates restore hello 1
templates export hello
pull flows
push flows --as tour --dry-run
schedule add --template hello --at 2099-01-02T03:04:05Z
schedule list
schedule show SCH
schedule pause SCH
schedule resume SCH
schedule next SCH
schedule run-now SCH
schedule remove SCH
templates remove asks
webhooks add --template hello --input name
webhooks list
webhooks show none
webhooks test --example github:issues
webhooks edit hello --respond output --within 10s
webhooks pause hello
webhooks resume hello
webhooks rotate none --new-secret
webhooks remove none
notify set hello
notify show
notify off
hubs add https://127.0.0.1:1/flows --id acme
hubs list
hubs items acme
hubs sync acme
hubs install acme/none
hubs remove acme
catalog list
catalog show log
invoke list_templates

config set run.timeoutMs 60000
config get run.timeoutMs
config list
config explain run.timeoutMs
config unset run.timeoutMs
config path
config schema
config login https://mill.invalid
secrets set ext:KEY
secrets set shop_key --env prod
secrets remove shop_key --env prod
secrets list
secrets remove ext:KEY
secrets move file
vars set region eu
vars list
vars remove region
services import openapi.json
services search weather
services add openweather
config trust
services list
connect pet-shop --secret-stdin
connections list
connections show pet-shop
connections remove pet-shop
providers list
providers test openai
models list
models running
models jobs
models cancel none
models engine list
models scan
models install none.gguf
models load none
models unload none
models remove none
ext build ext
ext pack ext
ext add ./ext --yes
config trust
ext list
ext trust ./ext --yes
ext doctor
ext remove ./ext
config trust
completion bash
backup copy.db
store move --to postgres://127.0.0.1:1/none
doctor
serve --port 0 --log-format pretty --log-level error
studio --no-open
`
  .trim()
  .split("\n\n")
  .map((part) => part.split("\n"));
const [FIRST = []] = PARTS;

/** What stdin says where a secret is asked for. */
const SECRET = "a-secret-that-is-never-shown";
/** These go on until they are told to end. */
const SERVES = /^(?:serve|studio) /;
/** Lines that are kept of what is longer than a page. */
const PAGE = 40;
const HEAD = 5;
const MAX_MS = 600_000; // a limit for what hangs: eighty processes, on a machine that does much else

const page = (text: string): string => {
  const lines = text.split("\n");
  if (lines.length <= PAGE) return text;
  return `${lines.slice(0, HEAD).join("\n")}\n[${lines.length - HEAD} lines]\n`;
};

/** What the commands of a part write, in a project that the first lines have made. */
async function tourOf(part: readonly string[]): Promise<string> {
  const cwd = scratch();
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const env = {
    HOME: cwd,
    XDG_CONFIG_HOME: cwd,
    XDG_DATA_HOME: cwd,
    MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 7).toString("base64"),
  };
  const names = { RUN: "", SCH: "" };
  let said = "";
  const before = part === FIRST ? [] : FIRST;
  for (const [n, line] of [...before, ...part].entries()) {
    const words = line.replace(/RUN|SCH/, (name) => names[name as keyof typeof names]).split(" ");
    const serving = SERVES.test(line) ? start(words, { cwd, env }) : undefined;
    await serving?.until("http://127.0.0.1:");
    serving?.child.kill("SIGTERM");
    const ended = serving?.ended ?? millrace(words, { cwd, env, stdin: `${SECRET}\n` });
    const { code, stdout, stderr } = await ended;
    [names.RUN = names.RUN] = /run_[0-9A-Z]{26}/.exec(line.includes("--save") ? stderr : "") ?? [];
    [names.SCH = names.SCH] = /sch_[0-9A-Z]{26}/.exec(stdout) ?? [];
    if (n < before.length) continue;
    said += `$ ${line} [${code}]\n${page(stdout)}${page(stderr).replace(/^(?=.)/gm, "| ")}`;
  }
  return said.replaceAll(cwd, "/project");
}

testUnless(notFull)(
  "every command ends as it did, and writes what it wrote",
  async () => {
    const said = (await Promise.all(PARTS.map(tourOf))).join("");
    const text = steady(said)
      .replace(/127\.0\.0\.1:\d{2,}/g, "ADDRESS")
      .replaceAll(process.version, "VERSION")
      .replaceAll(`${process.platform}-${process.arch}`, "PLATFORM")
      // A command that nobody can answer ends at the question: the pause after it may be stored before that, or later.
      .replace(/^\| CLOCK run\.paused .*\n(?=\| CLOCK summary .* confirmation_required: )/gm, "");
    await expect(text).toMatchFileSnapshot("tour.txt");
    expect(text).not.toContain(SECRET);
  },
  MAX_MS,
);

test("no command is left out", async () => {
  const shown = PARTS.flat();
  const missing = (await loadCommands(NOUNS))
    .map(({ path }) => path.join(" "))
    .filter((path) => !shown.some((line) => line === path || line.startsWith(`${path} `)));
  expect(missing).toEqual([]);
});
