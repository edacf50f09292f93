// What goes over the wire: renewing a token for many callers at once, timed by the clock, and calls of a service in sequence,
// timed by the processor; whoever answers is a process of its own (service.js).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { defineService } from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { accountFor, ensureFreshToken } from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { servicesPack } from "@millrace/services";
import { sized } from "../size.js";

const CALLERS = sized(1_000, 10);
const CALLS = sized(500, 10);
const ANSWER_MS = 100; // of a token endpoint that is not on this machine
const slug = "shop";

async function startService(...args) {
  const program = fileURLToPath(new URL("service.js", import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const [origin] = await once(child.stdout, "data");
  const close = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { origin: String(origin).trim(), close };
}

const storeOf = (expires_at) =>
  memoryCredentialStore({
    [accountFor(slug)]: JSON.stringify({
      access_token: "a".repeat(40),
      refresh_token: "r".repeat(40),
      expires_at,
      token_type: "Bearer",
      scope: "",
    }),
  });

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Expired tokens: the wall of many callers beside that of one; each sample has a store of its own. */
async function renewal(delayMs) {
  const { origin, close } = await startService(String(delayMs));
  const given = async () => Number(await (await fetch(`${origin}/count`)).text());
  const client = { tokenUrl: `${origin}/token`, clientId: "client", clientSecret: "secret" };
  let most = 0;
  const renewedBy = (callers) => async () => {
    const params = { ...client, slug, store: storeOf("2000-01-01T00:00:00.000Z") };
    const before = await given();
    const ms = await timed(async () => {
      const all = Array.from({ length: callers }, () => ensureFreshToken(params));
      const tokens = await Promise.all(all);
      if (new Set(tokens.map((token) => token.access_token)).size !== 1) {
        throw new Error("callers got different tokens");
      }
    });
    most = Math.max(most, (await given()) - before);
    return ms;
  };
  return {
    contenders: { "one caller": renewedBy(1), millrace: renewedBy(CALLERS) },
    facts: () => ({ "most requests of a renewal": { value: most, bar: 1 } }),
    close,
  };
}

/** A chain of nodes of one type, compiled; gives what runs it once. */
async function chainOf(type, fields, { engine, connections = [] }) {
  const graph = {
    version: 1,
    id: "calls",
    inputs: [],
    nodes: Array.from({ length: CALLS }, (_, i) => ({ id: `n${i}`, type, fields })),
    edges: Array.from({ length: CALLS - 1 }, (_, i) => ({
      from: `n${i}`,
      port: "out",
      to: `n${i + 1}`,
    })),
    outputs: [],
    connections,
    schedules: [],
    layout: {},
  };
  const compiled = await compileFlow(graph, { registry: createRegistry([servicesPack()]) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics.slice(0, 3)));
  return async () => {
    const run = engine.run(compiled.plan);
    let last;
    for await (const batch of run.batches()) last = batch.at(-1);
    if (last.status !== "succeeded") throw new Error(`${type}: ${last.error?.message}`);
  };
}

/** The credential as it is once a token is stored and fresh: asked of the store for each call. */
function credentialsFrom(store, tokenUrl) {
  const params = { store, slug, tokenUrl, clientId: "client", clientSecret: "secret" };
  const resolve = async () => {
    const { access_token } = await ensureFreshToken(params);
    return { scheme: "oauth2", scopes: [], reveal: () => access_token };
  };
  return { resolve, renew: resolve, secret: async () => undefined };
}

async function calls() {
  const { origin, close } = await startService();
  const auth = {
    scheme: "oauth2",
    authorizeUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    scopes: [],
  };
  const service = defineService({
    slug,
    title: "Shop",
    summary: "The service of the bench.",
    serviceIntegration: {
      baseUrl: origin,
      auth,
      operations: [{ id: "list", method: "GET", path: "/things" }],
    },
  });
  const engine = createEngine({
    host: createNodeHost(),
    egress: { allow: [{ cidr: "127.0.0.1/32" }] },
    services: { get: (name) => (name === slug ? service : undefined) },
    credentials: credentialsFrom(storeOf("2999-01-01T00:00:00.000Z"), auth.tokenUrl),
  });
  const connections = [{ name: slug, auth: "oauth", service: slug, slug }];
  const callNodes = await chainOf(
    "service.call",
    { connection: slug, operation: "list" },
    { engine, connections },
  );
  const requestNodes = await chainOf("http.request", { url: `${origin}/things` }, { engine });
  const headers = { authorization: `Bearer ${"a".repeat(40)}` };
  const fetches = async () => {
    for (let i = 0; i < CALLS; i++) await (await fetch(`${origin}/things`, { headers })).json();
  };
  const each = (work) => async () => {
    const from = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1_000 / CALLS;
  };
  return {
    contenders: {
      fetch: each(fetches),
      "http.request": each(requestNodes),
      millrace: each(callNodes),
    },
    close: async () => {
      await engine.close({ graceMs: 0 });
      await close();
    },
  };
}

export const requestCases = {
  "1,000 renewals": {
    what: `\`ensureFreshToken\` of an expired token, ${CALLERS} callers at once; token endpoint that takes ${ANSWER_MS} ms`,
    bars: { "one caller": 1.3 },
    samples: 9,
    prepare: () => renewal(ANSWER_MS),
  },
  "1,000 renewals, no latency": {
    what: "the same; token endpoint on this machine that answers at once",
    bars: { "one caller": null },
    samples: 15,
    prepare: () => renewal(0),
  },
  "service.call": {
    what: `${CALLS} nodes in a chain, credential in a memory store, time of the processor of each; \`fetch\`: a loop of bare ones`,
    bars: { fetch: 1.5, "http.request": 1.2 },
    samples: 9,
    warmMs: 3_000,
    prepare: calls,
  },
};
