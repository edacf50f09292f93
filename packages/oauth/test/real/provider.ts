/** A real OpenID provider on 127.0.0.1, and a person at a browser made of fetch. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";

/** A native client may come back to any port of the loopback (RFC 8252 §7.3). */
const REDIRECT = "http://127.0.0.1/callback";

/** The provider, with a client that every request of a test can be spread from. */
export async function startProvider({ pkceRequired = false } = {}) {
  // It greets with warnings about its development features, which are what we are here for.
  const quiet = [vi.spyOn(console, "warn"), vi.spyOn(console, "info")];
  for (const spy of quiet) spy.mockImplementation(() => {});
  const { default: Provider } = await import("oidc-provider"); // it greets when it is loaded, too

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = "millrace";
  const clientSecret = "PLANTED-secret &+%";
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    cookies: { keys: ["only for tests"] },
    features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
    pkce: { required: () => pkceRequired },
    rotateRefreshToken: true,
    scopes: ["openid", "offline_access"],
  });
  let grants = 0;
  let revoked = 0;
  provider.on("grant.success", () => {
    grants++;
  });
  provider.on("grant.revoked", () => {
    revoked++;
  });
  server.on("request", provider.callback());
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    for (const spy of quiet) spy.mockRestore();
  });
  return {
    authorizeUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    revocationUrl: `${issuer}/token/revocation`,
    clientId,
    clientSecret,
    scopes: ["openid", "offline_access"],
    /** Token requests that ended in a token. */
    grants: () => grants,
    /** Grants that the provider has ended. */
    revoked: () => revoked,
    /** The status of a request with an access token. */
    userinfo: async (accessToken = "") => {
      const answer = await fetch(`${issuer}/me`, {
        headers: { authorization: `Bearer ${accessToken}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    },
  };
}

/** Signs in and consents (or refuses), by the forms of the provider; the URL that it then sends the browser to. */
export async function answerConsent(
  authorizeUrl: string,
  answer: "grant" | "deny" = "grant",
): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const { origin } = new URL(authorizeUrl);
  let response = await visit(authorizeUrl);
  for (let steps = 0; steps < 12; steps++) {
    const location = response.headers.get("location");
    const page = await response.text();
    if (location !== null) {
      const url = new URL(location, origin);
      if (url.origin !== origin) return url.href;
      response = await visit(url.href);
      continue;
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (!action || !prompt)
      throw new Error(`no form on the page (status ${response.status}): ${page}`);
    const url = new URL(action, origin).href;
    response =
      answer === "deny" && prompt === "consent"
        ? await visit(`${url}/abort`)
        : await visit(url, { prompt, login: "somebody", password: "any" });
  }
  throw new Error("the provider does not come to an end");
}

/**
 * What `connectService` needs for a browser: it answers the consent and follows the redirect to whoever waits for it. `page`
 * is the status of his page; when the provider refuses to go on, so does the wait.
 */
export function startBrowser(answer?: "grant" | "deny") {
  const controller = new AbortController();
  let page: Promise<number> | undefined;
  const finish = async (authorizeUrl: string): Promise<number> => {
    const response = await fetch(await answerConsent(authorizeUrl, answer));
    await response.arrayBuffer();
    return response.status;
  };
  return {
    signal: controller.signal,
    openBrowser: (authorizeUrl: string): void => {
      page = finish(authorizeUrl);
      page.catch((error: unknown) => controller.abort(error));
    },
    page: () => page,
  };
}
