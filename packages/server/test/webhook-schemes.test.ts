/** Webhooks of others: their signatures, as their makers publish them, their repetitions and challenges. */
import { createHmac } from "node:crypto";
import type { Page, Webhook, WebhookScheme } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { invoke, post, problemOf, sendRaw } from "./support/server.ts";
import { ECHO, JSON_TYPE, world } from "./support/webhook-world.ts";

const hmac = (secret: string | Buffer, text: string | Uint8Array, as: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(as);

/** What the makers publish: key, headers and body of a call, with its time where one is signed. */
const VECTORS: readonly {
  readonly scheme: WebhookScheme;
  readonly secret: string;
  readonly headers: { readonly [name: string]: string };
  readonly signature: string;
  readonly body: string;
  readonly type: string;
  readonly at?: number;
  readonly time?: string;
}[] = [
  {
    /** @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation */
    scheme: "github",
    secret: "It's a Secret to Everybody",
    body: "Hello, World!",
    type: "text/plain",
    signature: "x-hub-signature-256",
    headers: {
      "x-hub-signature-256":
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
  },
  {
    /** @see https://docs.slack.dev/authentication/verifying-requests-from-slack#validating-a-request */
    scheme: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    type: "application/x-www-form-urlencoded",
    signature: "x-slack-signature",
    time: "x-slack-request-timestamp",
    at: 1531420618,
    headers: {
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      "x-slack-request-timestamp": "1531420618",
    },
  },
  {
    /** @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
    scheme: "standard",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    body: '{"test": 2432232314}',
    type: JSON_TYPE,
    signature: "webhook-signature",
    time: "webhook-timestamp",
    at: 1614265330,
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
];

test.each(VECTORS)(
  "the signature that the maker of $scheme publishes is taken, and no other",
  async (vector) => {
    const { at, hook, call } = await world();
    const { scheme, secret, headers: own, signature, body, type } = vector;
    const headers = { ...own, "content-type": type };
    const { token } = await hook(scheme, secret);
    at(vector.at ?? 0);
    const { [signature]: value = "", ...unsigned } = headers as { [name: string]: string };
    const refused: [object, string][] = [
      [headers, `${body} `],
      [unsigned, body],
      [{ ...headers, [signature]: `${value}, ${value}` }, body],
      [{ ...headers, [signature]: value.toUpperCase() }, body],
      [{ ...headers, [signature]: value.replace(/.{4}$/, "") }, body],
    ];
    if (vector.time !== undefined) {
      const { [vector.time]: _, ...timeless } = headers as { [name: string]: string };
      refused.push([timeless, body], [{ ...headers, [vector.time]: "x" }, body]);
    }
    for (const [sent, text] of refused) {
      const response = await call(token, sent, text);
      expect([response.status, JSON.stringify(sent)]).toEqual([401, expect.any(String)]);
    }
    for (const off of vector.at === undefined ? [] : [-360, 360]) {
      at((vector.at ?? 0) + off);
      expect((await call(token, headers, body)).status).toBe(401);
    }
    at((vector.at ?? 0) + 299);
    expect((await call(token, headers, body)).status).toBe(202);
  },
);

/** @see https://docs.stripe.com/webhooks#verify-manually */
test("Stripe may sign with several keys, and has one time; an event that comes again starts no second run", async () => {
  const { at, hook, call, runs } = await world();
  const secret = "whsec_of_stripe_is_used_as_it_is";
  const { token } = await hook("stripe", secret);
  at(1_000_000);
  const send = (body: string, time: number, header = (v1: string) => `t=${time},v1=${v1},v0=0`) =>
    call(token, { "stripe-signature": header(hmac(secret, `${time}.${body}`)) }, body);
  const event = '{"id":"evt_1","pending_webhooks":2}';
  const other = "0".repeat(64);
  expect((await send(event, 999_641)).status).toBe(401);
  expect((await send(event, 1_000_000, (v1) => `t=1000000,t=1000000,v1=${v1}`)).status).toBe(401);
  expect((await send(event, 1_000_000, (v1) => `v1=${v1}`)).status).toBe(401);
  expect((await send(event, 1_000_000, (v1) => `t=1000000,v0=${v1}`)).status).toBe(401);
  const first = await send(event, 1_000_000, (v1) => `t=1000000,v1=${other},v1=${v1}`);
  const { runId } = (await first.json()) as { runId: string };
  at(1_003_600);
  const again = await send(event.replace("2", "1"), 1_003_600);
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  expect(await again.json()).toEqual({ runId });
  expect(await runs()).toHaveLength(1);
});

test("a delivery of GitHub starts one run however often it comes, also after a refusal was mended", async () => {
  const { server, hook, call, runs } = await world();
  const secret = "a-secret-of-github";
  const { token } = await hook("github", secret);
  const send = (delivery: string) =>
    call(token, {
      "x-github-event": "issues",
      "x-github-delivery": delivery,
      "x-hub-signature-256": `sha256=${hmac(secret, "{}")}`,
    });
  await server.app.request("/api/templates/echo", {
    method: "PUT",
    headers: { "content-type": JSON_TYPE, "if-match": "*" },
    body: JSON.stringify({
      dsl: ECHO.replace("call: object", "call: object\n\ninput more: int"),
      takeErrors: true,
    }),
  });
  const refused = await send("d-1");
  expect([refused.status, await runs()]).toEqual([422, []]);
  await invoke(server, "save_template", { slug: "echo", dsl: ECHO, ifMatch: "*" });
  const answers = await Promise.all(["d-1", "d-1", "d-2", "d-1"].map(send));
  const ids = await Promise.all(
    answers.map(async (each) => ((await each.json()) as { runId: string }).runId),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  expect(new Set(ids).size).toBe(2);
  expect(await runs()).toHaveLength(2);
});

test("bytes are signed as they came: a byte order mark or text that is not UTF-8 is refused for what it is", async () => {
  const { hook, call } = await world();
  const secret = "a-secret-of-github";
  const { token } = await hook("github", secret);
  const statuses = async (bytes: Uint8Array, type: string) => {
    const signature = `sha256=${hmac(secret, bytes)}`;
    const headers = { "content-type": type, "x-hub-signature-256": signature };
    return [(await call(token, headers, bytes)).status, (await call(token, headers, "{}")).status];
  };
  expect(await statuses(Buffer.from("\ufeff{}"), JSON_TYPE)).toEqual([400, 401]);
  expect(await statuses(Buffer.from([0xff, 0xfe]), "text/plain")).toEqual([415, 401]);
});

test("a key is replaced while the one before it is still taken, for as long as was said", async () => {
  const { server, at, hook, call } = await world();
  const [old, young] = ["the-key-of-yesterday", "the-key-of-tomorrow"];
  at(1_000_000);
  const { id, token } = await hook("dropbox", old);
  const send = async (key: string) =>
    (await call(token, { "x-dropbox-signature": hmac(key, "{}") })).status;
  const rotate = (more: object) =>
    invoke<Webhook>(server, "update_webhook", { webhookId: id, ...more });
  expect([await send(old), await send(young)]).toEqual([200, 401]);
  expect(await rotate({ secret: young, keepSecretMs: 60_000 })).toMatchObject({
    scheme: "dropbox",
    earlierSecretUntil: new Date(1_000_060_000).toISOString(),
  });
  expect([await send(old), await send(young)]).toEqual([200, 200]);
  at(1_000_060);
  expect([await send(old), await send(young)]).toEqual([401, 200]);
  expect(await rotate({ secret: old, keepSecretMs: 0 })).not.toHaveProperty("earlierSecretUntil");
  expect([await send(old), await send(young)]).toEqual([200, 401]);
  expect(await rotate({ enabled: false })).toMatchObject({ enabled: false, secret: true });
  expect(await send(old)).toBe(404);
});

describe("a challenge", () => {
  const plain = async (response: Response) => {
    const { headers } = response;
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    return [response.status, await response.text()];
  };

  test("of GitHub and Slack is answered when it is signed, and starts no run", async () => {
    const { at, hook, call, runs } = await world();
    at(1_000_000);
    const secret = "a-secret-of-both";
    const [github, slack] = [await hook("github", secret), await hook("slack", secret)];
    const signed = { "x-hub-signature-256": `sha256=${hmac(secret, "{}")}` };
    const ping = { "x-github-event": "ping" };
    expect(await plain(await call(github.token, { ...signed, ...ping }))).toEqual([200, "pong"]);
    expect((await call(github.token, ping)).status).toBe(401);
    const ask = (challenge: string) => {
      const body = JSON.stringify({ type: "url_verification", challenge });
      return call(
        slack.token,
        {
          "x-slack-request-timestamp": "1000000",
          "x-slack-signature": `v0=${hmac(secret, `v0:1000000:${body}`)}`,
        },
        body,
      );
    };
    expect(await plain(await ask("3eZbrw1aBm2rZgRNFdxV"))).toEqual([200, "3eZbrw1aBm2rZgRNFdxV"]);
    for (const page of ["<script>alert(1)</script>", "x".repeat(1_025), "a\nb", ""]) {
      expect((await ask(page)).status).toBe(422);
    }
    expect(await runs()).toEqual([]);
  });

  test("of Meta, Dropbox and Microsoft Graph is answered from the query, and by no other address", async () => {
    const { server, hook, call } = await world();
    const meta = await hook("meta", "a-secret-of-meta");
    const dropbox = await hook("dropbox", "secretofdropbox");
    const graph = await hook("microsoft-graph", "a-secret-of-graph");
    const get = (token: string, query: string) => fetch(`${server.url}/hooks/${token}?${query}`);
    const subscribe = (verify: string) =>
      get(meta.token, `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${verify}`);
    expect(await plain(await subscribe(meta.verifyToken ?? ""))).toEqual([200, "1158201444"]);
    expect((await subscribe("wrong")).status).toBe(401);
    const { verifyToken: next = "" } = await invoke<Webhook>(server, "update_webhook", {
      webhookId: meta.id,
      secret: "another-secret-of-meta",
      keepSecretMs: 0,
    });
    expect((await subscribe(meta.verifyToken ?? "")).status).toBe(401);
    expect(await plain(await subscribe(next))).toEqual([200, "1158201444"]);
    const listed = await invoke<Page<Webhook>>(server, "list_webhooks", {});
    expect(JSON.stringify(listed)).not.toContain(next);
    expect(await plain(await get(dropbox.token, "challenge=abc123"))).toEqual([200, "abc123"]);
    expect((await get(dropbox.token, "challenge=%3Cb%3E")).status).toBe(422);
    const sentence = "Validation: Testing client application reachability";
    const asked = await call(
      graph.token,
      { "content-type": "text/plain" },
      "",
      `?validationToken=${encodeURIComponent(sentence)}`,
    );
    expect(await plain(asked)).toEqual([200, sentence]);
    for (const [token, query] of [
      [graph.token, "validationToken=a"],
      [meta.token, ""],
      ["unknown", "challenge=abc123"],
    ] as const) {
      const response = await get(token, query);
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    for (const method of ["HEAD", "OPTIONS"]) {
      const { status } = await fetch(`${server.url}/hooks/${dropbox.token}`, { method });
      expect(status).toBe(405);
    }
    const state = (clientState: string) => JSON.stringify({ value: [{ clientState }] });
    expect((await call(graph.token, {}, state("a-secret-of-graph"))).status).toBe(202);
    expect((await call(graph.token, {}, state("wrong"))).status).toBe(401);
    expect((await call(graph.token, {}, '{"value":[]}')).status).toBe(401);
  });
});

test("a sender that signs has a key, written as that sender does", async () => {
  const { server } = await world();
  for (const args of [
    { scheme: "github" },
    { scheme: "standard", secret: "whsec_not base64 at all" },
    { scheme: "github", secret: "short" },
  ]) {
    const response = await post(server, "/api/webhooks", {
      template: "echo",
      input: "call",
      ...args,
    });
    expect([response.status, (await problemOf(response)).errors?.[0]?.pointer]).toEqual([
      422,
      "/secret",
    ]);
  }
});

test("headers that are there twice count for nothing", async () => {
  const { server, hook } = await world();
  const { token } = await hook("dropbox", "secretofdropbox");
  const signature = hmac("secretofdropbox", "{}");
  const raw = (...signatures: string[]) =>
    sendRaw(
      server,
      [
        `POST /hooks/${token} HTTP/1.1`,
        `Host: ${new URL(server.url).host}`,
        "Connection: close",
        "Content-Type: application/json",
        "Content-Length: 2",
        ...signatures.map((each) => `X-Dropbox-Signature: ${each}`),
        "",
        "{}",
      ].join("\r\n"),
    );
  expect((await raw(signature)).status).toBe(200);
  expect((await raw(signature, signature)).status).toBe(401);
});
