/** A service, its authorization server and a project that describes it, all on loopback; and a browser that needs no person. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from "@millrace/oauth/testing";
import { serveHttp } from "@millrace/test-support/loopback";
import { onTestFinished } from "vitest";
import { type Ended, type Running, scratch, start } from "./cli.ts";
import { inside, millrace, type Told } from "./inside.ts";

const { PATH = "" } = process.env;
/** 32 bytes in base64. */
const KEY = "a2V5LWtleS1rZXkta2V5LWtleS1rZXkta2V5LWtleS0=";

const FLOW = `flow 1 issues

connection tracker: oauth {
  service = "tracker"
}

node open: service.call {
  connection = "tracker"
  operation = "issues.list"
}

output first: string = open.body.items[0]
`;

interface Given {
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

export interface ServiceWorld {
  readonly cwd: string;
  /** Folder of the data and the credentials. */
  readonly home: string;
  readonly authorization: FakeAuthorizationServer;
  /** Credentials that the service was called with, oldest first. */
  readonly seen: readonly string[];
  /** The service refuses this credential from now on. */
  refuse(credential: string): void;
  /** Ends a grant at the authorization server, as its user may. */
  endGrant(token: string): Promise<void>;
  /** Runs the command in a process of its own. */
  run(words: readonly string[], options?: Given): Promise<Ended>;
  /** The same in this process. */
  here(words: readonly string[], options?: Given): Promise<Told>;
  start(words: readonly string[], options?: { stdin?: string }): Running;
}

/** Opens the world; everything of it ends with the test. */
export async function serviceWorld(
  options: FakeAuthorizationServerOptions & {
    readonly browser?: boolean;
    readonly auth?: object;
    readonly egress?: object;
  } = {},
): Promise<ServiceWorld> {
  const { browser = true, auth, egress, ...behaviour } = options;
  const authorization = await startFakeAuthorizationServer(behaviour);
  onTestFinished(() => authorization.close());
  const seen: string[] = [];
  const refused = new Set<string>();
  const api = await serveHttp((request, response) => {
    const credential = (request.headers.authorization ?? "").replace("Bearer ", "");
    seen.push(credential);
    const isGood =
      !refused.has(credential) && (auth !== undefined || authorization.accepts(credential));
    response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" });
    response.end(isGood ? '{"items":["one"]}' : "{}");
  });
  const { authorizeUrl, tokenUrl, revocationUrl } = authorization;
  const descriptor = {
    slug: "tracker",
    title: "Issue tracker",
    summary: "Issues.",
    serviceIntegration: {
      baseUrl: api.url,
      auth: auth ?? {
        scheme: "oauth2",
        authorizeUrl,
        tokenUrl,
        revocationUrl,
        scopes: ["issues:read"],
        pkce: true,
      },
      operations: [{ id: "issues.list", method: "GET", path: "/issues" }],
    },
  };
  const cwd = scratch({
    "issues.flow": FLOW,
    "millrace.json": JSON.stringify({
      egress: egress ?? { allow: [{ host: "127.0.0.1" }] },
      credentials: { store: "file" },
    }),
  });
  mkdirSync(join(cwd, "services"));
  writeFileSync(join(cwd, "services", "tracker.json"), JSON.stringify(descriptor));
  const home = scratch();
  const env = {
    MILLRACE_HOME: home,
    MILLRACE_TRUST_PROJECT: "1",
    MILLRACE_CREDENTIAL_KEY: KEY,
    PATH: browser ? `${fakeBrowser()}:${PATH}` : scratch(),
  };
  return {
    cwd,
    home,
    authorization,
    seen,
    refuse: (credential) => void refused.add(credential),
    async endGrant(token) {
      const { clientId, clientSecret } = authorization;
      const form = { token, client_id: clientId, client_secret: clientSecret };
      await fetch(revocationUrl, { method: "POST", body: new URLSearchParams(form) });
    },
    run: (words, more = {}) => millrace(words, { cwd, ...more, env: { ...env, ...more.env } }),
    here: (words, more = {}) => inside(words, { cwd, ...more, env: { ...env, ...more.env } }),
    start: (words, more = {}) => start(words, { cwd, ...more, env }),
  };
}

/** A folder whose `xdg-open` (`open` on a Mac) visits the address, as a person would who consents at once. */
function fakeBrowser(): string {
  const folder = scratch();
  const visit = "fetch(process.argv[1]).catch(() => {})";
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec "${process.execPath}" -e '${visit}' "$1"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}
