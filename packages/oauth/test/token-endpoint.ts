/** A token endpoint that follows a script and ends with its test, and the errors of what asks it. */
import { OAuthError } from "@millrace/oauth";
import {
  type HostileStep,
  type HostileTokenEndpoint,
  startHostileTokenEndpoint,
} from "@millrace/test-support/hostile-token-endpoint";
import { onTestFinished } from "vitest";

export async function startEndpoint(script: readonly HostileStep[]): Promise<HostileTokenEndpoint> {
  const server = await startHostileTokenEndpoint({ script });
  onTestFinished(() => server.close());
  return server;
}

/** The error of a call that fails the way this package fails. */
export async function errorOf(promise: Promise<unknown>): Promise<OAuthError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!OAuthError.isInstance(error)) throw new Error("not an OAuthError", { cause: error });
  return error;
}
