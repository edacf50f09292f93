/** `millrace services`: descriptors of services, as files that people read and commit. Nothing here reaches the network. */

import { command, listOf } from "../../argv/flags.ts";
import type { CliCommand } from "../../argv/spec.ts";
import { configOptions, warnOn } from "../../config/files.ts";
import { strayServices } from "../../config/services.ts";
import { usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { addService, searchServices } from "./catalog.ts";
import { importSpec } from "./import.ts";

const list = command("services list", "list the services that flows can call here", {
  examples: [["services list", "slug, title, scheme, operations"]],
  async run(input, io) {
    // The whole configuration comes with the server; a search in the catalog needs none.
    const { loadConfig } = await import("../../config/load.ts");
    const { describedExtensions, describedServices } = await import("../../config/sources.ts");
    const options = configOptions(input, io);
    const config = await loadConfig(options, io, warnOn(io));
    const ofExtensions = (await describedExtensions(config.sources)).flatMap(
      ({ type, title, serviceIntegration, problem }) =>
        serviceIntegration === undefined || problem !== undefined
          ? []
          : [{ slug: type.replace(/^service\./, ""), title, serviceIntegration }],
    );
    const described = await describedServices(config.sources);
    const services = [...described, ...ofExtensions].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    const items = services.map(
      ({ slug, title, serviceIntegration: { auth, baseUrl, operations } }) => ({
        slug,
        title,
        scheme: auth.scheme,
        baseUrl,
        operations: operations.map(({ id }) => id),
      }),
    );
    const stray =
      items.length === 0 && io.json === undefined ? await strayServices(options, io) : undefined;
    if (stray !== undefined) throw usage(stray);
    const data = items.map(({ slug, title, scheme, operations }) =>
      clean(`${slug}  ${title}  ${scheme}  ${operations.join(" ")}`),
    );
    return listOf(
      items,
      data,
      "no service is described here; millrace services search shows ready ones, millrace services import makes one",
    );
  },
});

export const commands: readonly CliCommand[] = [searchServices, addService, importSpec, list];
