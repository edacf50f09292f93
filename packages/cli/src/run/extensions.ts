/** The extensions of a project for what runs in this process. Loaded where a project names some. */

import { createNodeHost } from "@millrace/engine/node";
import { type Extensions, openExtensions, type TakenIds } from "@millrace/extensions";
import { createStandardRegistry } from "@millrace/server/registry";
import type { Config } from "../config/load.ts";
import { describedServices } from "../config/sources.ts";
import { usage } from "../errors.ts";
import { type ExtensionFixtures, fixtureTypes } from "../fixtures/nodes.ts";
import type { DebugLines } from "../output/debug-lines.ts";
import { clean } from "../output/text.ts";

/** Providers that are there without a word of configuration. */
const OWN_PROVIDERS = ["openai", "anthropic", "google", "mock", "local"];

/** Opens them. Throws a usage error for a lock that cannot be read; `warn` is told of each that cannot be used. */
export async function openProjectExtensions(
  config: Pick<Config, "folder" | "extensions" | "egress" | "credentials" | "ai" | "sources">,
  warn: (line: string) => void,
  {
    watch = false,
    fixtures,
    debug,
  }: {
    readonly watch?: boolean;
    /** In the place of the network and of the files; no socket is opened. */
    readonly fixtures?: ExtensionFixtures | undefined;
    readonly debug?: DebugLines | undefined;
  } = {},
): Promise<Extensions> {
  const { folder, extensions, egress, credentials } = config;
  const services = await describedServices(config.sources);
  const { openFetch, openResolver } = fixtures?.host ?? createNodeHost();
  try {
    const opened = await openExtensions({
      project: folder,
      ...extensions,
      watch,
      taken: takenIds({ providers: config.ai.providers, services }),
      data: credentials.dir,
      egress,
      openFetch,
      ...(fixtures === undefined ? { openResolver } : { filesRoot: fixtures.filesRoot }),
      ...(debug && { output: debug.output }),
      warn: ({ extension, code, message }) => warn(clean(`${extension}: ${message} (${code})`)),
    });
    return fixtures === undefined
      ? opened
      : { ...opened, types: fixtureTypes(opened, fixtures.node) };
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message);
    throw error;
  }
}

/** Ids that no extension can have here; `providers`: the key of the configuration. */
export function takenIds({
  providers = {},
  services = [],
}: {
  readonly providers?: unknown;
  readonly services?: readonly { readonly slug: string }[];
} = {}): TakenIds {
  return {
    types: createStandardRegistry()
      .entries()
      .map(({ type }) => type),
    providers: [...OWN_PROVIDERS, ...Object.keys(Object(providers))],
    services: services.map(({ slug }) => slug),
  };
}
