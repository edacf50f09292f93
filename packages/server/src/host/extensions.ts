/** Opens the extensions of a server. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EgressPolicy, Registry } from "@millrace/engine";
import type { NodeHost } from "@millrace/engine/node";
import { type Extensions, openExtensions } from "@millrace/extensions";
import { createProviders } from "@millrace/providers";
import type { ExtensionsOption, NodeTypeSource } from "../config/options.ts";
import type { ResolvedAi } from "../config/read-options.ts";
import { ConfigError } from "../errors.ts";
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
  options: {
    readonly extensions: ExtensionsOption | null;
    readonly services: readonly { readonly slug: string }[];
    readonly ai: ResolvedAi;
    readonly egress: EgressPolicy | null;
    readonly store: string;
    readonly nodeTypes: readonly NodeTypeSource[];
  },
): Promise<ServerExtensions> {
  const {
    folder = "",
    list = [],
    config = {},
    watch = false,
    times = {},
    output,
  } = options.extensions ?? {};
  type Warning = { readonly extension: string; readonly code: string; readonly message: string };
  const early: Warning[] = [];
  let warn = (warning: Warning): void => void early.push(warning);
  try {
    const extensions = await openExtensions({
      project: folder,
      list,
      watch,
      times,
      config,
      ...(output !== undefined && { output }),
      taken: {
        types: registryWith(options.nodeTypes)
          .entries()
          .map(({ type }) => type),
        providers: ["local", ...createProviders(options.ai.settings).map(({ id }) => id)],
        services: options.services.map(({ slug }) => slug),
      },
      data: options.store === "memory" ? join(tmpdir(), "millrace-data") : options.store,
      openFetch: machine.openFetch,
      ...(options.egress !== null && { egress: options.egress }),
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
    throw new ConfigError("option_invalid", `option "extensions": ${cause.message}`, { cause });
  }
}

/** What is wrong with node types of the program is said where the registry of the server is made. */
function registryWith(nodeTypes: readonly NodeTypeSource[]): Registry {
  try {
    return createStandardRegistry(nodeTypes);
  } catch {
    return createStandardRegistry();
  }
}
