/**
 * No secret stands in clear in anything that a run leaves: the data folder with its WAL, backups, standard output and error.
 * The process is killed in the middle, and the run that is taken up again still has the true values.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { checkLog } from "@millrace/contracts";
import { notFull, testUnless } from "@millrace/test-support";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect } from "vitest";
import { bytesBelow, found } from "./canaries.ts";
import { events, lastSummary, millrace, scratch, start } from "./cli.ts";

const CREDENTIAL_KEY = Buffer.alloc(32, 5).toString("base64");
const PASSWORD = 'canary-"password"/ü-4711';
const PIN = "canary-nested-pin-4712";
const API_KEY = "sk-canary-model-key-4713-ABCDEFGH";
const TOKEN = "canary-connection-token-4714";
const NAMED = "canary-named-secret-4715";
const SECRETS = { PASSWORD, PIN, API_KEY, TOKEN, NAMED };
const MAIL = "canary.person@example.org";
const CARD = "4111 1111 1111 1111";
const PERSONAL = { MAIL, CARD };

/** A server that repeats what it was sent, in every form; a model among it that tells the key it was asked with. */
interface Parrot {
  readonly url: string;
  /** What requests to `/check` brought, in order. */
  readonly checked: readonly string[];
  /** From here on `/hang` answers. */
  release(): void;
}

const forms = (text: string): string[] => [
  text,
  encodeURIComponent(text),
  Buffer.from(text).toString("base64"),
  Buffer.from(`login ${text} end`).toString("base64"),
  JSON.stringify(text),
];

async function parrot(): Promise<Parrot> {
  const checked: string[] = [];
  const waiting: (() => void)[] = [];
  let isReleased = false;
  const server = await serveHttp((request, response) => {
    void text(request).then((body) => answer(request, response, body));
  });
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const { headers, url = "" } = request;
    const said = [headers.authorization?.replace("Bearer ", ""), headers["x-login"]]
      .filter((value) => typeof value === "string")
      .map((value) => decodeURIComponent(value));
    const json = (value: unknown, status = 200): void => {
      const echoed = said.map((value) => encodeURIComponent(value)).join(" ");
      response.writeHead(status, { "content-type": "application/json", "x-echo": echoed });
      response.end(JSON.stringify(value));
    };
    if (url.endsWith("/chat/completions")) talk(response, JSON.parse(body), said[0] ?? "");
    else if (url === "/hang" && !isReleased) waiting.push(() => json({ released: true }));
    else if (url === "/check") {
      checked.push(decodeURIComponent(String(headers["x-login"])));
      json({ again: said });
    } else if (url === "/large") json({ said: said.flatMap(forms), padding: "x".repeat(100_000) });
    else if (url === "/refuse") json({ error: `refused ${said.join(" ")}` }, 422);
    else json({ said: said.flatMap(forms), raw: said, body });
  };
  return {
    url: server.url,
    checked,
    release() {
      isReleased = true;
      for (const go of waiting) go();
    },
  };
}

/** First asks for a tool with personal data, then repeats its key in pieces. */
function talk(
  response: ServerResponse,
  asked: { messages: { role: string }[]; tools?: { function: { name: string } }[] },
  key: string,
): void {
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices })}\n\n`,
    );
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const tool = asked.tools?.[0]?.function.name;
  if (tool !== undefined && !asked.messages.some(({ role }) => role === "tool")) {
    const args = JSON.stringify({ text: `write to ${MAIL}, card ${CARD}, key ${key}` });
    send({
      role: "assistant",
      tool_calls: [
        { index: 0, id: "t", type: "function", function: { name: tool, arguments: args } },
      ],
    });
    send({}, "tool_calls");
  } else {
    const text = `your key is ${forms(key).join(" or ")}.`;
    for (let at = 0; at < text.length; at += 5) send({ content: text.slice(at, at + 5) });
    send({}, "stop");
  }
  response.end("data: [DONE]\n\n");
}

const ai = (level: string): string => `node ${level}: ai {
  provider = "parrot"
  modelId = "m"
  input = "say it"
  auditContent = "${level}"
  tools = [{ ref: "flow:lookup", confirm: false }]
}
`;

const LOOKUP = `flow 1 lookup

input text: string

output found: string = "the person is known as \${inputs.text}"
`;

const flowFor = (url: string): string => `flow 1 canary

input password {
  schema = { type: "string", writeOnly: true }
}

input account {
  schema = {
    type: "object",
    properties: { name: { type: "string" }, pin: { type: "string", format: "password" } },
  }
}

connection tracker: bearer {
  service = "tracker"
}

node echo: http.request {
  url = "${url}/echo"
  method = "POST"
  headers = { "x-login": uriEncode(inputs.password) }
  body = { login: inputs.password, pin: inputs.account.pin }
}

node large: http.request {
  url = "${url}/large"
  headers = { "x-login": uriEncode(inputs.password) }
}

node named: http.request {
  url = "${url}/refuse"
  headers = { authorization: "Bearer \${secrets.shop_key}" }
  @on-error = { default: {} }
}

node refused: http.request {
  url = "${url}/refuse"
  headers = { "x-login": uriEncode(inputs.password) }
  @on-error = { default: { said: inputs.password } }
}

node call: service.call {
  connection = "tracker"
  operation = "echo"
}

${["hash", "redacted", "full"].map(ai).join("\n")}
node hang: http.request {
  url = "${url}/hang"
}

echo -> hang
large -> hang
refused -> hang
named -> hang
call -> hang
hash -> hang
redacted -> hang
full -> hang

node back: http.request {
  url = "${url}/check"
  headers = { "x-login": uriEncode(echo.body.raw[0]) }
}

node token: http.request {
  url = "${url}/check"
  headers = { "x-login": uriEncode(call.body.raw[0]) }
}

node wide: http.request {
  url = "${url}/check"
  headers = { "x-login": uriEncode(large.body.said[0]) }
}

node again: http.request {
  url = "${url}/check"
  headers = { "x-login": secrets.shop_key }
}

hang -> back
wide -> again
back -> token
token -> wide

output said: any = [call.body.raw, echo.body.raw, full.text]
`;

interface Canaries {
  readonly world: { readonly cwd: string; readonly env: Record<string, string> };
  readonly home: string;
}

async function world(url: string): Promise<Canaries> {
  const home = scratch();
  const cwd = scratch({
    "canary.flow": flowFor(url),
    "lookup.flow": LOOKUP,
    "millrace.json": JSON.stringify({
      egress: { allow: [{ host: "127.0.0.1" }] },
      credentials: { store: "file" },
      providers: { parrot: { kind: "openai-compatible", baseUrl: `${url}/v1` } },
    }),
  });
  mkdirSync(join(cwd, "services"));
  const operations = [{ id: "echo", method: "GET", path: "/echo" }];
  const serviceIntegration = { baseUrl: url, auth: { scheme: "bearer" }, operations };
  writeFileSync(
    join(cwd, "services", "tracker.json"),
    JSON.stringify({ slug: "tracker", title: "Tracker", summary: "Issues.", serviceIntegration }),
  );
  const env = {
    MILLRACE_HOME: home,
    MILLRACE_TRUST_PROJECT: "1",
    MILLRACE_CREDENTIAL_KEY: CREDENTIAL_KEY,
    CANARY_PASSWORD: PASSWORD,
    CANARY_ACCOUNT: JSON.stringify({ name: "Ada", pin: PIN }),
  };
  const key = await millrace(["secrets", "set", "ai:parrot"], { cwd, env, stdin: API_KEY });
  expect(key.code, key.stderr).toBe(0);
  const named = await millrace(["secrets", "set", "shop_key"], { cwd, env, stdin: NAMED });
  expect(named.code, named.stderr).toBe(0);
  const token = await millrace(["connect", "tracker"], { cwd, env, stdin: TOKEN });
  expect(token.code, token.stderr).toBe(0);
  return { world: { cwd, env }, home };
}

const RUN = [
  "run",
  "canary.flow",
  "--save",
  "--json",
  "--events",
  "events.ndjson",
  "-v",
  "-i",
  "password=@env:CANARY_PASSWORD",
  "-i",
  "account=@env:CANARY_ACCOUNT",
];

testUnless(notFull)(
  "secrets stand nowhere in clear, before and after a kill, and the run goes on with the true values",
  async () => {
    const server = await parrot();
    const { world: at, home } = await world(server.url);
    const running = start(RUN, at);
    await running.until('"node":"hang"');
    running.child.kill("SIGKILL");
    const killed = await running.ended;
    const runId = events(killed.stdout)[0]?.runId ?? "";
    const told = (ended: { stdout: string; stderr: string }, when: string) =>
      [
        [`stdout ${when}`, ended.stdout],
        [`stderr ${when}`, ended.stderr],
      ] as const;
    const left = [
      ...bytesBelow(home),
      ...told(killed, "killed"),
      ["events", readFileSync(join(at.cwd, "events.ndjson"), "latin1")] as const,
    ];
    expect(left.length).toBeGreaterThan(4);
    expect(killed.stdout, "the server repeats what it is sent").toContain("[redacted]");
    expect(found(left, SECRETS)).toEqual([]);
    const log = events(killed.stdout);
    const levels = ["hash", "redacted"];
    const args = log.flatMap((e) =>
      e.kind === "tool.started" && levels.includes(e.node) ? [JSON.stringify(e)] : [],
    );
    expect(found([["tool events", args.join("\n")]], PERSONAL)).toEqual([]);

    server.release();
    const resumed = await millrace(["resume", runId, "--json", "-v"], at);
    expect(resumed.code, resumed.stderr + resumed.stdout.slice(-2000)).toBe(0);
    expect(checkLog(events(resumed.stdout))).toEqual([]);
    expect(server.checked).toEqual([PASSWORD, TOKEN, PASSWORD, NAMED]);
    const backup = join(scratch(), "backup.db");
    const saved = await millrace(["backup", backup], at);
    expect(saved.code, saved.stderr).toBe(0);
    const shown = await millrace(["runs", "get", runId, "--json"], at);
    const after = [
      ...bytesBelow(home),
      [backup, readFileSync(backup, "latin1")] as const,
      ...told(resumed, "resumed"),
      ...told(shown, "shown"),
    ];
    expect(found(after, SECRETS)).toEqual([]);
    expect(lastSummary(resumed.stdout).status).toBe("succeeded");
  },
);
