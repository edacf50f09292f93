/**
 * Secrets in environment variables: `NAME` has the secret, or `NAME_FILE` the path of a file that has it, as Docker, Kubernetes and
 * systemd hand secrets over. Whoever reads a variable that may hold a secret reads it here.
 */
import { readFileSync } from "node:fs";

/** Environment variables by name, as in `process.env`. */
type Variables = { readonly [name: string]: string | undefined };

/** The variable that each maker documents, with a provider of its name alone. */
export const WELL_KNOWN: { readonly [provider: string]: string } = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};

/** Variables of known names and what each holds; any that a reference `env:NAME` names may come from a file, too. */
export const SECRET_VARIABLES: readonly (readonly [name: string, holds: string])[] = [
  ["MILLRACE_TOKEN", "token of the server that commands ask; one that `serve` lets in"],
  ["MILLRACE_CREDENTIAL_KEY", "key of the encrypted credential file, 32 bytes in base64"],
  ["MILLRACE_STORE_KEY", "key of a store that servers share, 32 bytes in base64"],
  ["MILLRACE_STORE_URL", "address of that store, where `store.url` is `env:MILLRACE_STORE_URL`"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "headers for the receiver of traces, such as `x-api-key=KEY`"],
  ...Object.entries(WELL_KNOWN).map(([id, name]) => [name, `key of the provider ${id}`] as const),
];

/**
 * The secret of a variable, or of the file that `NAME_FILE` names, without the newline at its end; undefined where neither is set.
 * Throws `TypeError` where both are, and for a file that cannot be read or has nothing in it: the message has names, never a secret.
 */
export function secretVariable(env: Variables, name: string): string | undefined {
  const value = env[name];
  const path = env[`${name}_FILE`];
  if (!path) return value;
  if (value) throw new TypeError(`${name} and ${name}_FILE are both set; keep one of the two`);
  const text = read(path, name).replace(/\r?\n$/, "");
  if (text === "") throw new TypeError(`${name}_FILE: ${path} is empty`);
  return text;
}

function read(path: string, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const why =
      error instanceof TypeError ? "no UTF-8 text" : (error as NodeJS.ErrnoException).code;
    throw new TypeError(`${name}_FILE: cannot read ${path} (${why})`);
  }
}
