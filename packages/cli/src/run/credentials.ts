/**
 * The credentials of a run. Nothing of the store, of OAuth or of the network behind it is loaded before a step of the flow
 * asks for a credential.
 */

import { type CredentialsPort, NodeError } from "@millrace/contracts";
import type { Connections } from "@millrace/store";
import type { RunConfig } from "../config/load.ts";
import type { OpenedCredentials } from "../credentials/service-credentials.ts";
import { CliError } from "../errors.ts";

/** The port, and the end of what it opened. */
export interface RunCredentials {
  readonly port: CredentialsPort;
  close(): Promise<void>;
}

/**
 * The credentials that the configuration gives to runs. A store that cannot be opened fails the step that wants it, with code
 * `unavailable`. `table`: of the store that this process writes already.
 */
export function runCredentials(
  config: RunConfig,
  now: () => number,
  table?: Connections,
): RunCredentials {
  let opened: Promise<OpenedCredentials> | undefined;
  const open = async (): Promise<OpenedCredentials["credentials"]> => {
    opened ??= import("../credentials/service-credentials.ts").then(({ openCredentials }) =>
      openCredentials(config, now, table),
    );
    try {
      return (await opened).credentials;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const message = `${error.message}; ${error.hint ?? ""}`;
      throw new NodeError("unavailable", message, { reason: "unavailable", sent: false });
    }
  };
  return {
    port: {
      resolve: async (slug, options) => (await open()).resolve(slug, options),
      renew: async (slug, rejected, options) => (await open()).renew(slug, rejected, options),
      refused: (slug, credential) => void open().then((port) => port.refused(slug, credential)),
      secret: async (name) => {
        try {
          return await (await open()).secret(name);
        } catch (error) {
          throw await withVariable(error, name);
        }
      },
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** A store that cannot be asked is not the first thing to mend where a variable is enough. */
async function withVariable(error: unknown, name: string): Promise<unknown> {
  const { wellKnownVariable } = await import("@millrace/providers");
  const provider = name.replace(/^ai:/, "");
  const variable = name === provider ? undefined : wellKnownVariable(provider);
  if (variable === undefined || !NodeError.isInstance(error)) return error;
  const { code, reason, retryable, message } = error;
  return new NodeError(code, `${provider} has no key here: set ${variable}; or ${message}`, {
    ...(reason !== undefined && { reason }),
    retryable,
    sent: false,
    cause: error,
  });
}
