/** The whole consent against a token endpoint on loopback. */
import type { CredentialStore, Lock } from "@millrace/oauth";
import {
  bindLoopback,
  type ConnectOptions,
  connectService,
  type LoopbackPage,
} from "@millrace/oauth/loopback";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { expect, onTestFinished, test } from "vitest";
import { type End, expectFree, failureOf, get, send } from "./support.ts";

const SECRET = "client-s3cret";

/** Everything a consent does to the outside, in order. */
interface World {
  readonly steps: string[];
  readonly forms: URLSearchParams[];
  readonly entries: Map<string, string>;
  readonly options: ConnectOptions;
  /** The URL that the browser was given. */
  url(): URL;
}

interface Told {
  /** What the browser does with the redirect URI and the state. */
  readonly visit?: (redirectUri: string, state: string) => unknown;
  readonly status?: number;
  readonly body?: string;
}

async function world(options: Partial<ConnectOptions> = {}, told: Told = {}): Promise<World> {
  const steps: string[] = [];
  const forms: URLSearchParams[] = [];
  const entries = new Map<string, string>();
  const opened: URL[] = [];
  const { url: origin } = await serveHttp(async (request, response) => {
    const body = await bodyOf(request);
    steps.push("exchange");
    forms.push(new URLSearchParams(body));
    response.writeHead(told.status ?? 200, { "content-type": "application/json" });
    response.end(told.body ?? `{"access_token":"a","refresh_token":"r","token_type":"Bearer"}`);
  });
  const store: CredentialStore = {
    get: async (account) => entries.get(account),
    set: async (account, value) => {
      steps.push("store");
      entries.set(account, value);
    },
    delete: async (account) => entries.delete(account),
  };
  const visit = told.visit ?? ((uri, state) => redirect(uri, `code=the-code&state=${state}`));
  return {
    steps,
    forms,
    entries,
    url: () => opened[0] as URL,
    options: {
      authorizeUrl: `${origin}/authorize`,
      tokenUrl: `${origin}/token`,
      clientId: "client",
      clientSecret: SECRET,
      scopes: ["read", "write"],
      store,
      slug: "tracker",
      timeoutMs: 300_000,
      openBrowser: (text) => {
        steps.push("browser");
        const url = new URL(text);
        opened.push(url);
        return visit(
          url.searchParams.get("redirect_uri") ?? "",
          url.searchParams.get("state") ?? "",
        );
      },
      ...options,
    },
  };
}

const redirect = (uri: string, query: string): Promise<string> => {
  const { port, pathname } = new URL(uri);
  return send(Number(port), get(`${pathname}?${query}`));
};

const connect = (options: ConnectOptions): Promise<End> =>
  connectService(options).then(
    (token) => ({ code: JSON.stringify(token) }),
    (error: unknown) => ({ error }),
  );

const portOf = ({ url }: World): number =>
  Number(new URL(url().searchParams.get("redirect_uri") ?? "").port);

test("binds, opens the browser, exchanges the code and stores the token, in that order", async () => {
  const { options, steps, forms, entries, url } = await world();
  const token = await connectService(options);
  expect(token).toEqual({ access_token: "a", refresh_token: "r", token_type: "Bearer", scope: "" });
  expect(steps).toEqual(["browser", "exchange", "store"]);
  const redirectUri = url().searchParams.get("redirect_uri") ?? "";
  expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect([...url().searchParams]).toEqual([
    ["response_type", "code"],
    ["client_id", "client"],
    ["redirect_uri", redirectUri],
    ["scope", "read write"],
    ["state", expect.stringMatching(/^[\w-]{43}$/)],
    ["access_type", "offline"],
    ["prompt", "consent"],
  ]);
  expect([...(forms[0] ?? [])]).toEqual([
    ["grant_type", "authorization_code"],
    ["code", "the-code"],
    ["client_id", "client"],
    ["client_secret", SECRET],
    ["redirect_uri", redirectUri],
  ]);
  expect([...entries]).toEqual([
    [
      "service:tracker",
      `{"access_token":"a","refresh_token":"r","token_type":"Bearer","scope":""}`,
    ],
  ]);
  await expectFree(Number(new URL(redirectUri).port));
});

test("every consent has a state of its own", async () => {
  const [one, two] = [await world(), await world()];
  await Promise.all([connectService(one.options), connectService(two.options)]);
  expect(one.url().searchParams.get("state")).not.toBe(two.url().searchParams.get("state"));
});

test("with PKCE the verifier belongs to the challenge", async () => {
  const { options, forms, url } = await world({ usePkce: true });
  await connectService(options);
  const verifier = new TextEncoder().encode(forms[0]?.get("code_verifier") ?? "");
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", verifier));
  expect(url().searchParams.get("code_challenge")).toBe(digest.toString("base64url"));
  expect(url().searchParams.get("code_challenge_method")).toBe("S256");
});

test("a path of its own is the path of the redirect, and the only one that counts", async () => {
  const visit = async (uri: string, state: string) => {
    const elsewhere = uri.replace("/oauth/back", "/callback");
    expect(await redirect(elsewhere, `code=wrong&state=${state}`)).toContain(" 404 ");
    await redirect(uri, `code=right&state=${state}`);
  };
  const { options, forms } = await world({ path: "/oauth/back" }, { visit });
  await connectService(options);
  expect(forms[0]?.get("code")).toBe("right");
});

test("a port of a list, resources and extra parameters reach both requests", async () => {
  const free = await bindLoopback();
  await free.close();
  const extras = { resource: ["https://r.example"], extraParams: { audience: "x" } };
  const made = await world({ port: [70_000, free.port], ...extras });
  await connectService(made.options);
  expect(portOf(made)).toBe(free.port);
  for (const values of [made.url().searchParams, made.forms[0]]) {
    expect(values?.get("resource")).toBe("https://r.example");
    expect(values?.get("audience")).toBe("x");
  }
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no browser");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no browser"))],
  ["never comes back", () => new Promise(() => {})],
])("a browser that %s does not end the wait", async (_what, outcome) => {
  const visits: Promise<string>[] = [];
  const visit = (uri: string, state: string) => {
    visits.push(redirect(uri, `code=the-code&state=${state}`));
    return outcome();
  };
  const { options, steps } = await world({}, { visit });
  expect((await connectService(options)).access_token).toBe("a");
  expect(steps).toEqual(["browser", "exchange", "store"]);
  expect(await visits[0]).toContain(" 200 ");
});

test("nothing is exchanged or stored when the user denies, the state differs or the issuer is another", async () => {
  const expectedIssuer = "https://issuer.example";
  const reasons: unknown[] = [];
  for (const query of ["error=access_denied", "code=1&state=x", "code=1&state=STATE&iss=x"]) {
    const visit = (uri: string, state: string) => redirect(uri, query.replace("STATE", state));
    const made = await world({ expectedIssuer }, { visit });
    reasons.push(failureOf(await connect(made.options)).reason);
    expect(made.steps).toEqual(["browser"]);
    await expectFree(portOf(made));
  }
  expect(reasons).toEqual(["denied", "state_mismatch", "issuer_mismatch"]);
});

test("a refused exchange stores nothing and frees the port", async () => {
  const body = `{"error":"invalid_grant"}`;
  const made = await world({}, { status: 400, body });
  expect(failureOf(await connect(made.options))).toMatchObject({ kind: "Token", status: 400 });
  expect(made.steps).toEqual(["browser", "exchange"]);
  await expectFree(portOf(made));
});

test("a store that fails is an error of the store, and the port is free", async () => {
  const made = await world();
  made.options.store.set = () => Promise.reject(new Error(`cannot keep ${SECRET}`));
  const failure = failureOf(await connect(made.options));
  expect(failure.kind).toBe("Credential");
  expect(failure.message).not.toContain(SECRET);
  await expectFree(portOf(made));
});

test("a redirect that does not come in time is a timeout, and the port is free", async () => {
  const made = await world({ timeoutMs: 0 }, { visit: () => {} });
  expect(failureOf(await connect(made.options)).reason).toBe("redirect_timeout");
  await expectFree(portOf(made));
});

test("an abort ends the wait with its reason, and the port is free", async () => {
  const controller = new AbortController();
  const visit = () => controller.abort("enough");
  const made = await world({ signal: controller.signal }, { visit });
  expect(await connect(made.options)).toEqual({ error: "enough" });
  await expectFree(portOf(made));
});

test("a port that cannot be bound opens no browser", async () => {
  const taken = await bindLoopback();
  onTestFinished(() => taken.close());
  const { options, steps } = await world({ port: taken.port });
  expect(failureOf(await connect(options)).reason).toBe("bind");
  expect(steps).toEqual([]);
});

test("an abort between the port and the browser opens none, and the port is free", async () => {
  const controller = new AbortController();
  const { options, steps } = await world({ signal: controller.signal, usePkce: true });
  const ended = connect(options);
  controller.abort("enough");
  expect(await ended).toEqual({ error: "enough" });
  expect(steps).toEqual([]);
});

test("the token is stored under the lock of its entry", async () => {
  const made = await world();
  const lock: Lock = {
    acquire: async (key, { timeoutMs }) => {
      made.steps.push(`lock ${key} ${timeoutMs}`);
      return { held: async () => true, release: async () => void made.steps.push("release") };
    },
  };
  await connectService({ ...made.options, lock });
  expect(made.steps).toEqual([
    "browser",
    "exchange",
    "lock service:tracker 45000",
    "store",
    "release",
  ]);
});

const mistakes: readonly [string, Partial<ConnectOptions>, unknown][] = [
  ["no timeout", { timeoutMs: Number.NaN }, expect.any(RangeError)],
  ["no secret", { clientSecret: undefined as unknown as string }, expect.any(TypeError)],
  ["a parameter of ours twice", { extraParams: { state: "x" } }, expect.any(TypeError)],
  ["a field of ours twice", { extraParams: { grant_type: "x" } }, expect.any(TypeError)],
  ["a path without a slash", { path: "x" }, expect.any(TypeError)],
  ["a path that a browser would change", { path: "/a/%2E./b" }, expect.any(TypeError)],
  ["a page without text", { pages: { ok: {} as LoopbackPage } }, expect.any(TypeError)],
  ["nothing to open the browser", { openBrowser: "x" as never }, expect.any(TypeError)],
  ["an empty slug", { slug: "" }, expect.objectContaining({ kind: "Credential" })],
  ["an abort from before", { signal: AbortSignal.abort("early") }, "early"],
];
test.each(mistakes)("%s is refused before anything happens", async (_name, options, error) => {
  const made = await world(options);
  expect(await connect(made.options)).toEqual({ error });
  expect(made.steps).toEqual([]);
});
