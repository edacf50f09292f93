/** Every suite that an extension can be put through. */

import type { ExtensionDefinition } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import type { ConformanceCase, ConformanceOptions } from "./fixtures.ts";
import { bodyCases } from "./suites/bodies.ts";
import { definitionCases } from "./suites/definition.ts";
import { isolationConformance } from "./suites/isolation.ts";
import { providerCases } from "./suites/provider.ts";
import { schemaCases } from "./suites/schemas.ts";
import { serviceCases } from "./suites/service.ts";

/** The cases of an extension, for any runner: `for (const { name, run } of conformance(extension)) test(name, run)`. */
export function conformance(
  extension: ExtensionDefinition,
  options: ConformanceOptions = {},
): readonly ConformanceCase[] {
  checkOptions("conformance", options, { fixtures: true, providers: true, package: true });
  return [
    ...definitionCases(extension, options),
    ...schemaCases(extension, options),
    ...bodyCases(extension, options),
    ...extension.providers.flatMap((provider) => providerCases(provider, options)),
    ...extension.services.flatMap(serviceCases),
    ...(options.package === undefined
      ? []
      : isolationConformance(extension, { ...options, package: options.package })),
  ];
}
