/** Opens the extensions of a server. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Registry } from "@millrace/engine";
import type { NodeHost } from "@millrace/engine/node";
import { type Extensions, openExtensions } from "@millrace/extensions";
import { createProviders } from "@millrace/providers";
import type { NodeTypeSource, ResolvedOptions } from "../config/options.ts";
import { badOption } from "../errors.ts";
import type { Logger } from "../ports.ts";
import { createStandardRegistry } from "./registry.ts";

/** Extensions, and where their warnings go once there is a log. */
export interface ServerExtensions {
  readonly extensions: Extensions;
  logTo(log: Logger): void;
}

/** Opens the extensions of a server. Throws `ConfigError` for a lock file that cannot be read; extensions that cannot be used are listed. */
export async function openServerExtensions(
  machine: NodeHost,
  options: Pick<
    ResolvedOptions,
    "extensions" | "services" | "ai" | "egress" | "store" | "nodeTypes"
  >,
): Promise<ServerExtensions> {
  const { folder = "", list = [], ...more } = options.extensions ?? {};
  type Warning = { readonly extension: string; readonly code: string; readonly message: string };
  const early: Warning[] = [];
  let warn = (warning: Warning): void => void early.push(warning);
  try {
    const extensions = await openExtensions({
      ...more,
      project: folder,
      list,
      taken: {
        types: registryWith(options.nodeTypes)
          .entries()
          .map(({ type }) => type),
        providers: ["local", ...createProviders(options.ai.settings).map(({ id }) => id)],
        services: options.services.map(({ slug }) => slug),
      },
      data: options.store === "memory" ? join(tmpdir(), "millrace-data") : options.store,
      openFetch: machine.openFetch,
      openResolver: machine.openResolver,
      egress: options.egress,
      warn: (warning) => warn(warning),
    });
    return {
      extensions,
      logTo(log) {
        warn = ({ message, ...about }) => log.warn({ ...about, problem: message }, "extension");
        for (const warning of early.splice(0)) warn(warning);
      },
    };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw badOption(`option "extensions": ${cause.message}`, cause);
  }
}

/** Problems of the program's own node types are reported where the registry of the server is made. */
function registryWith(nodeTypes: readonly NodeTypeSource[]): Registry {
  try {
    return createStandardRegistry(nodeTypes);
  } catch {
    return createStandardRegistry();
  }
}
