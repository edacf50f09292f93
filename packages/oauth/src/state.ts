/** Unguessable values from the runtime's random generator. */

/** 256 bits, as RFC 7636 §4.1 recommends for the verifier: 43 characters. */
const RANDOM_BYTES = 32;

/** A fresh `state`: 32 random bytes as base64url, 43 characters. */
export function generateState(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

/**
 * A fresh verifier, for the token request, and its challenge, for the authorize URL.
 * @see RFC 7636
 */
export async function generatePkce(): Promise<{
  verifier: string;
  challenge: string;
  method: "S256";
}> {
  const verifier = generateState();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: base64url(new Uint8Array(digest)), method: "S256" };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
