/** `millrace run` on a server: the flow goes there, the events come back, whatever lies between. */
import { request as ask } from "node:http";
import type { ExecutionEvent, Summary } from "@millrace/contracts";
import { checkLog } from "@millrace/contracts";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { type World, world } from "./api-world.ts";
import { events, lastSummary, scratch, start } from "./cli.ts";
import { inside, millrace } from "./inside.ts";

const FLOW = `flow 1 shop

input items: string[] = ["a", "b"]

node each: map {
  items = inputs.items
  as = "item"
  @concurrency = 1
  body {
    node shout: transform {
      value = upper(item)
    }

    output = shout.value
  }
}

node ok: confirm {
  prompt = "Send it?"
}

node done: log {
  message = "sent"
}

each -> ok
ok.approved -> done

output all: string[] = each.items
`;
const SLOW = "flow 1 slow\n\nnode wait: delay {\n  for = 1h\n}\n";
const BROKEN = "flow 1 broken\n\nnode say: no.such {\n  a = 1\n}\n";

/** Without what is different at every run, who started it, and digests that only a log that is kept has. */
function normal(log: readonly ExecutionEvent[]): unknown[] {
  return log.map(({ runId: _id, ts: _ts, seq: _seq, ...event }) => {
    const text = JSON.stringify(event)
      .replace(/"(durationMs|trigger|by|at)":(?:\d+|"[^"]*")/g, '"$1":0')
      .replace(/"inputs":"sha256:[0-9a-f]{64}",?/, "");
    return JSON.parse(text.replace(",}", "}"));
  });
}

/** A server in front of another one: `meddle` may answer in its place, or end an answer after so many events. */
async function proxy(
  url: string,
  meddle: (
    path: string,
    count: number,
  ) => { status?: number; cutAfter?: number; after?: Promise<void> } | undefined,
): Promise<string> {
  const counts = new Map<string, number>();
  const server = await serveHttp(async (incoming, outgoing) => {
    const path = incoming.url ?? "";
    const kind = path.endsWith("/events") ? "events" : path;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const { status, cutAfter, after } = meddle(kind, count) ?? {};
    await after;
    if (status !== undefined) {
      const problem = { code: "draining", title: "The server is shutting down", status };
      outgoing.writeHead(status, {
        "content-type": "application/problem+json",
        "retry-after": "0",
      });
      outgoing.end(JSON.stringify(problem));
      return;
    }
    const onward = ask(
      url + path,
      { method: incoming.method ?? "GET", headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        let left = cutAfter ?? Number.POSITIVE_INFINITY;
        answer.on("data", (chunk: Buffer) => {
          for (const part of String(chunk).split(/(?<=\n\n)/)) {
            left -= 1;
            if (left >= 0) outgoing.write(part, () => left <= 0 && outgoing.destroy());
          }
        });
        answer.on("end", () => outgoing.end());
      },
    );
    outgoing.on("close", () => onward.destroy());
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return server.url;
}

async function stored(at: World, runId: string): Promise<string> {
  const response = await fetch(`${at.url}/api/runs/${runId}/events`);
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => `${line.slice(6)}\n`)
    .join("");
}

test("a run there is the run here: the same events, bytes equal to what the server sends, cut as often as it may be", async () => {
  const at = await world();
  const cwd = scratch({ "shop.flow": FLOW });
  const words = ["run", "shop.flow", "--json", "-i", 'items=["x","y"]', "--confirm", "ok=approve"];
  const here = await inside(words, { cwd });
  expect(here.code, here.stderr).toBe(0);
  const cutting = await proxy(at.url, (path, count) => {
    if (path === "/api/run") return { cutAfter: 3 };
    return path === "events" && count < 2 ? { cutAfter: 4 } : undefined;
  });
  const there = await millrace([...words, "--server", cutting], { cwd });
  expect([there.code, there.stderr]).toEqual([0, ""]);
  const log = events(there.stdout);
  expect(checkLog(log)).toEqual([]);
  const { runId } = lastSummary(there.stdout);
  expect(there.stdout).toBe(await stored(at, runId));
  // Here the answer is there before anybody waits for it; there it comes by a call.
  const kinds = new Set(["run.paused", "run.resumed", "node.waiting", "node.resumed"]);
  const same = (all: readonly ExecutionEvent[]) =>
    normal(all.filter(({ kind }) => !kinds.has(kind)));
  expect(same(log)).toEqual(same(events(here.stdout)));

  const yes = await inside(["run", "shop.flow", "--yes", "--server", at.url], { cwd });
  expect([yes.code, JSON.parse(yes.stdout)]).toEqual([0, { all: ["A", "B"] }]);
});

test("a stream that stays away ends with 6 and the run's own id, and says how to go on", async () => {
  const at = await world();
  const cwd = scratch({ "slow.flow": SLOW });
  const dead = await proxy(at.url, (path) => {
    if (path === "/api/run") return { cutAfter: 2 };
    return path === "events" ? { status: 503 } : undefined;
  });
  const tee = ["--events", "log.ndjson"];
  const ended = await inside(["run", "slow.flow", "--json", "--server", dead, ...tee], { cwd });
  const log = events(ended.stdout);
  const summary = log.at(-1) as Summary;
  expect([ended.code, summary.exitCode, summary.error?.code, summary.seq]).toEqual([
    6,
    6,
    "unavailable",
    log.length,
  ]);
  expect(summary.error?.message).toContain(`millrace runs tail ${summary.runId} --server ${dead}`);
  expect(new Set(log.map(({ runId }) => runId)).size).toBe(1);
  const run = JSON.parse(await at.invoke("get_run", { runId: summary.runId }));
  expect(run.status).toBe("running");
});

test("a signal cancels the run there, and its summary is waited for", async () => {
  const at = await world();
  const cwd = scratch({ "slow.flow": SLOW });
  const running = start(["run", "slow.flow", "--json", "--server", at.url], { cwd });
  await running.until("node.waiting");
  running.child.kill("SIGTERM");
  const { code, stdout } = await running.ended;
  const { runId, status, exitCode } = lastSummary(stdout);
  expect([code, exitCode, status]).toEqual([143, 143, "cancelled"]);
  expect(stdout).toBe(await stored(at, runId));

  const late = await inside(
    ["run", "slow.flow", "--json", "--server", at.url, "--timeout", "50ms"],
    { cwd },
  );
  expect([late.code, lastSummary(late.stdout).error?.code]).toEqual([124, "run_timeout"]);
});

test("a cancelled run with finished steps names the command that keeps their results", async () => {
  const at = await world();
  const half = `${SLOW}\nnode first: transform {\n  value = 1\n}\n`;
  const cwd = scratch({ "half.flow": half, "slow.flow": SLOW });
  const stopped = async (flow: string, seen: string): Promise<string> => {
    const running = start(["run", flow, "--server", at.url], { cwd });
    await running.until(seen);
    running.child.kill("SIGINT");
    return (await running.ended).stderr;
  };
  expect(await stopped("half.flow", "node.succeeded")).toMatch(
    new RegExp(`^next: millrace runs retry run_\\w+ --server ${at.url}$`, "m"),
  );
  expect(await stopped("slow.flow", "run.started")).not.toContain("next:");
});

test("a signal that comes before the run is there cancels it once it is", async () => {
  const at = await world();
  const cwd = scratch({ "slow.flow": SLOW });
  const signal = new AbortController();
  let refused = () => {};
  const tooEarly = new Promise<void>((resolve) => {
    refused = resolve;
  });
  const slow = await proxy(at.url, (path, count) => {
    if (path === "/api/run") {
      signal.abort("sigint");
      return { after: tooEarly };
    }
    if (path !== "/api/invoke" || count !== 2) return undefined;
    refused();
    return { status: 404 };
  });
  const words = ["run", "slow.flow", "--json", "--server", slow];
  const ended = await inside(words, { cwd, signal: signal.signal });
  const { status, exitCode } = lastSummary(ended.stdout);
  expect([ended.code, exitCode, status]).toEqual([130, 130, "cancelled"]);
  const left = await inside([...words, "--detach"], { cwd, signal: AbortSignal.abort("sigterm") });
  expect([left.code, lastSummary(left.stdout).exitCode]).toEqual([143, 143]);
});

test("a question that nobody answers parks the run; confirm answers it, once", async () => {
  const at = await world();
  const cwd = scratch({ "shop.flow": FLOW });
  const parked = await inside(["run", "shop.flow", "--json", "--server", at.url], { cwd });
  const { runId, error } = lastSummary(parked.stdout);
  expect([parked.code, error?.code]).toEqual([4, "confirmation_required"]);
  expect(error?.message).toContain(`millrace confirm ${runId} ok --approve --server ${at.url}`);
  const tail = start(["runs", "tail", runId], { cwd, env: { MILLRACE_SERVER_URL: at.url } });
  await tail.until(`it asks: millrace confirm ${runId} ok --approve`);
  const answer = ["confirm", runId, "ok", "--approve", "--comment", "fine", "--json"];
  const given = await at.inside(answer);
  expect([given.code, JSON.parse(given.stdout)]).toEqual([
    0,
    expect.objectContaining({ id: "k1", status: "approved", comment: "fine" }),
  ]);
  expect(await tail.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("{") });
  const twice = await at.inside(answer);
  expect([twice.code, twice.stdout, JSON.parse(twice.stderr)]).toEqual([
    1,
    "",
    expect.objectContaining({
      code: "already_resolved",
      detail: expect.stringMatching(/^k1 ok: approved by api at \d{4}-/),
    }),
  ]);
  const none = await at.inside(["confirm", "run_nope", "--approve", "--json"]);
  expect([none.code, JSON.parse(none.stderr).code]).toEqual([6, "not_found"]);
  expect((await at.inside(["confirm", runId, "--approve", "--reject"])).code).toBe(2);
});

test("--detach leaves the run to the server and tells its id; a template is found there", async () => {
  const at = await world();
  const cwd = scratch({ "slow.flow": SLOW });
  await at.invoke("save_template", { slug: "shop", dsl: FLOW });
  const left = await inside(["run", "slow.flow", "--detach", "--server", at.url], { cwd });
  expect([left.code, left.stdout]).toEqual([0, expect.stringMatching(/^run_\w{26}\n$/)]);
  expect(await at.invoke("get_run", { runId: left.stdout.trim() })).toContain('"trigger":"api"');
  const words = ["run", "slow.flow", "--detach", "--json", "--tag", "team=fx", "--server", at.url];
  const json = await inside(words, { cwd });
  const [ref = "", last = ""] = json.stdout.trimEnd().split("\n");
  expect(lastSummary(last).status).toBe("succeeded");
  const run = JSON.parse(await at.invoke("get_run", { runId: JSON.parse(ref).runId }));
  expect(run.tags).toEqual({ team: "fx" });
  const stored = await at.inside(["run", "shop", "--yes", "-i", 'items=["q"]']);
  expect([stored.code, JSON.parse(stored.stdout)]).toEqual([0, { all: ["Q"] }]);
  const unknown = await at.inside(["run", "nope", "--json"]);
  expect([unknown.code, lastSummary(unknown.stdout).error?.code]).toEqual([6, "unavailable"]);
});

const ENDS: readonly (readonly [string, string, readonly string[], number])[] = [
  ["a flow that the server does not know the parts of", "broken.flow", [], 3],
  ["an input that does not fit there", "shop.flow", ["-i", "items=[1]"], 2],
  ["a flag that works here alone", "shop.flow", ["--save"], 2],
  ["another one", "shop.flow", ["--watch"], 2],
  ["a URL that is none", "shop.flow", ["--server", "ftp://x"], 2],
  ["a server that is not there", "shop.flow", ["--server", "http://127.0.0.1:1"], 6],
];

test("whatever keeps a run from beginning there, the last line is a summary with the exit code", async () => {
  const at = await world();
  const cwd = scratch({ "shop.flow": FLOW, "broken.flow": BROKEN });
  for (const [name, file, more, code] of ENDS) {
    const ended = await at.inside(["run", file, "--json", ...more], { cwd });
    const summary = lastSummary(ended.stdout);
    expect([ended.code, summary.exitCode, summary.seq], name).toEqual([code, code, 1]);
  }
  const broken = await at.inside(["run", "broken.flow"], { cwd });
  expect(broken.stderr).toMatch(/broken\.flow:3:\d+/);
  const detached = await inside(["run", "shop.flow", "--detach"], { cwd });
  expect([detached.code, detached.stderr]).toEqual([2, expect.stringContaining("--server")]);
});

const TOKEN = "planted-token-of-a-run";
/** What a server that is no Millrace server, or another one, may answer. */
const STRANGERS: readonly (readonly [string, number, Record<string, string>, string, number])[] = [
  ["a page", 200, { "content-type": "text/html" }, "<html>hello</html>", 6],
  ["a page of a gateway", 502, { "content-type": "text/html" }, "<html>bad gateway</html>", 6],
  ["another version", 200, { "millrace-api-version": "2" }, "{}", 6],
  ["a redirect", 302, { location: "http://127.0.0.1:1/stolen" }, "", 6],
  [
    "a refusal of the token",
    401,
    { "content-type": "application/problem+json" },
    '{"code":"unauthorized","title":"A valid bearer token is needed","status":401}',
    5,
  ],
];

test("a server that is none, or refuses, is named; the token is not, and goes nowhere else", async () => {
  const cwd = scratch({ "shop.flow": FLOW });
  let answer = STRANGERS[0];
  const asked: string[] = [];
  const stranger = await serveHttp((incoming, outgoing) => {
    asked.push(`${incoming.url} ${incoming.headers.authorization}`);
    const [, status = 500, headers = {}, body = ""] = answer ?? [];
    outgoing.writeHead(status, headers).end(body);
  });
  const origin = stranger.url;
  for (const each of STRANGERS) {
    answer = each;
    const env = { MILLRACE_TOKEN: TOKEN, MILLRACE_SERVER_URL: origin };
    const ended = await inside(["run", "shop.flow", "--json"], { cwd, env });
    const summary = lastSummary(ended.stdout);
    expect([ended.code, summary.exitCode], each[0]).toEqual([each[4], each[4]]);
    expect(summary.error?.message, each[0]).toContain(origin);
    expect(ended.stdout + ended.stderr).not.toContain(TOKEN);
  }
  expect(new Set(asked)).toEqual(new Set([`/api/invoke Bearer ${TOKEN}`]));
  expect(asked).toHaveLength(STRANGERS.length);
});
