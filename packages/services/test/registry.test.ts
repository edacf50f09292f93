import { defineExtension, defineService, type JsonSchema } from "@millrace/contracts";
import { compileFlow, createRegistry } from "@millrace/engine";
import { servicesPack } from "@millrace/services";
import { graphWith } from "@millrace/test-support/graph";
import { expect, test } from "vitest";

const acme = (slug: string, result: JsonSchema = {}) =>
  defineService({
    slug,
    title: "Acme",
    summary: "A service of a test.",
    serviceIntegration: {
      baseUrl: "https://acme.example",
      auth: { scheme: "bearer" },
      operations: [{ id: "list", method: "GET", path: "/list", result }],
    },
  });

test("services of extensions are listed with their descriptor, and calls are checked against them", async () => {
  const registry = createRegistry([
    servicesPack(),
    defineExtension({ services: [acme("acme")] }),
    acme("other"),
  ]);
  const types = registry.entries().map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("service."))).toEqual([
    "service.acme",
    "service.call",
    "service.other",
  ]);
  expect(registry.entries().find(({ type }) => type === "service.acme")).toMatchObject({
    kind: "service",
    serviceIntegration: { baseUrl: "https://acme.example" },
  });
  expect([...registry.catalog().types()]).not.toContain("service.acme");
  const graph = graphWith({
    id: "f",
    nodes: [{ id: "n", type: "service.call", fields: { connection: "a", operation: "lst" } }],
    connections: [{ name: "a", auth: "bearer", service: "acme" }],
  });
  const compiled = await compileFlow(graph, { registry });
  expect(compiled).toMatchObject({
    ok: false,
    diagnostics: [{ code: "FLOW3006", pointer: "/nodes/0/fields/operation" }],
  });
  const node = { id: "n", type: "service.acme", fields: {} };
  const direct = await compileFlow({ ...graph, nodes: [node] }, { registry });
  expect(direct.diagnostics.map(({ code }) => code)).toContain("FLOW3001");
});

test("a service that is there twice, or whose schemas nothing can check, is refused", () => {
  const duplicate = expect.objectContaining({ code: "registry_duplicate" });
  expect(() => createRegistry([servicesPack(), acme("acme"), acme("acme")])).toThrow(duplicate);
  expect(() => createRegistry([servicesPack(), acme("call")])).toThrow(duplicate);
  expect(() => createRegistry([servicesPack(), acme("acme", { if: {} })])).toThrow(
    expect.objectContaining({
      code: "registry_invalid",
      message: 'service "acme": result/if of operation list: `if` is not supported',
    }),
  );
});
