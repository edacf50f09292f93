/** The suites as tests of vitest. */
import type { ExtensionDefinition } from "@millrace/contracts";
import { describe, test } from "vitest";
import { conformance } from "./conformance.ts";
import type { ConformanceOptions } from "./fixtures.ts";

/** Declares every case of `conformance` as a test. */
export function testConformance(
  extension: ExtensionDefinition,
  options: ConformanceOptions = {},
): void {
  describe("conformance", () => {
    for (const { name, run } of conformance(extension, options)) test(name, run);
  });
}
