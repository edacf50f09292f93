/** The example flows with `ai` nodes validate without a finding. */
import { readFileSync } from "node:fs";
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createRegistry } from "@millrace/engine";
import { graphOf, STANDARD_TYPES } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const FLOWS = new URL("../../dsl/test/fixtures/flows/", import.meta.url);
const called = graphOf(
  "flow 1 fetch-and-save\ninput url: string\nnode a: log { message = inputs.url }\n",
);

test.each(["08-summarise-ticket", "09-classify-and-route", "10-agent-with-tools"])(
  "%s validates",
  async (name) => {
    const { graph, diagnostics } = parseFlow(readFileSync(new URL(`${name}.flow`, FLOWS), "utf8"));
    const compiled = await compileFlow(graph, {
      registry: createRegistry([STANDARD_TYPES]),
      subflows: { get: async () => ({ graph: called, digest: "" }) },
    });
    expect([diagnostics, compiled.diagnostics]).toEqual([[], []]);
  },
);
