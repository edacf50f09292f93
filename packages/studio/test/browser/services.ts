/** Services for the tests: one by consent, one by a key, one that needs no credential. */
import type { TestServerOptions } from "./server.ts";

type Services = NonNullable<TestServerOptions["services"]>;

/** Options of a server with the services; `origin` is that of the authorization server. */
export const servicesAt = (origin: string): TestServerOptions => {
  const service = (slug: string, title: string, auth: object) => ({
    slug,
    title,
    summary: `What ${title} does.`,
    serviceIntegration: {
      baseUrl: "https://api.example",
      auth,
      operations: [{ id: "list", method: "GET", path: "/list" }],
    },
  });
  return {
    egress: { allow: [{ cidr: "127.0.0.0/8" }] },
    services: [
      service("tracker", "Tracker", {
        scheme: "oauth2",
        authorizeUrl: `${origin}/authorize`,
        tokenUrl: `${origin}/token`,
        revocationUrl: `${origin}/revoke`,
        scopes: ["issues:read"],
        redirect: { path: "/done" },
      }),
      service("mailer", "Mailer", { scheme: "apiKey", in: "header", name: "X-Key" }),
      service("clock", "Clock", { scheme: "none" }),
    ] as unknown as Services,
  };
};
