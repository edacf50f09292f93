/** Minimal credentials of one connection, in memory, for suites that do not test a host. */
import { type CredentialsPort, NodeError, type ServiceCredential } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import type { CredentialsSetup, CredentialsUnderTest } from "./credentials-conformance.ts";

/** Renews the token at the endpoint of the service, once for all waiting calls, and not again after a refusal. */
export async function plainCredentials({
  service,
  client,
  token,
}: CredentialsSetup): Promise<CredentialsUnderTest> {
  const { slug, serviceIntegration } = service;
  const { auth } = serviceIntegration;
  const fetch = createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.1/32" }] });
  const scopes = token.scope.split(" ");
  const credentialOf = (value: string): ServiceCredential => ({
    scheme: auth.scheme,
    scopes,
    reveal: () => value,
  });
  let current = credentialOf(token.access_token);
  let expiresAt = Date.parse(token.expires_at);
  let renewing: Promise<ServiceCredential> | undefined;

  const renewed = async (): Promise<ServiceCredential> => {
    const { tokenUrl = "" } = auth as { readonly tokenUrl?: string };
    const asked = { grant_type: "refresh_token", refresh_token: token.refresh_token, ...client };
    const answer = await fetch(tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(asked).toString(),
    });
    if (!answer.ok) throw new NodeError("credentials_expired", `${slug} gives no other token`);
    const given = (await answer.json()) as { access_token: string; expires_in: number };
    expiresAt = Date.now() + given.expires_in * 1_000;
    current = credentialOf(given.access_token);
    return current;
  };
  const renew = (): Promise<ServiceCredential> => {
    renewing ??= renewed();
    return renewing;
  };
  const credentials: CredentialsPort = {
    resolve: async () => (Date.now() < expiresAt ? current : renew()),
    renew,
    secret: async () => undefined,
  };
  return { credentials };
}
