/** A provider of models that an extension defines, through the suite of all providers. */
import assert from "node:assert/strict";
import type { HostContext, ProviderDefinition } from "@millrace/contracts";
import type { ConformanceCase, ConformanceOptions } from "../fixtures.ts";
import { createRecordingFetch } from "../host/recording-fetch.ts";
import { providerConformance } from "../providers/conformance.ts";

/** The cases of a definition; without a fixture one that says so. */
export function providerCases(
  definition: ProviderDefinition,
  { providers = {} }: ConformanceOptions,
): readonly ConformanceCase[] {
  const { id } = definition;
  const fixture = Object.hasOwn(providers, id) ? providers[id] : undefined;
  if (fixture === undefined) {
    return [
      {
        name: `provider ${id}: has a fixture`,
        async run() {
          assert.fail(`say providers: { ${JSON.stringify(id)}: { model, wire } }`);
        },
      },
    ];
  }
  const provider = definition.create(fixture.config ?? {}, hostContext());
  const cases = providerConformance({
    provider,
    modelId: fixture.model,
    wire: fixture.wire,
    keyless: fixture.keyless ?? false,
  });
  return [
    {
      name: `provider ${id}: has the id of its definition`,
      async run() {
        assert.equal(provider.id, id);
      },
    },
    ...cases.map(({ name, run }) => ({ name: `provider ${id}: ${name}`, run })),
  ];
}

/** Context for creating a provider; requests are not expected then. */
function hostContext(): HostContext {
  const { fetch } = createRecordingFetch([]);
  return { fetch, signal: new AbortController().signal, now: () => 0, random: () => 0, log() {} };
}
