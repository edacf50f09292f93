import type { FlowGraph } from "@millrace/contracts";
import { compileFlow, createRegistry, parseFlowRef, type SubflowPort } from "@millrace/engine";
import { notFull, testUnless } from "@millrace/test-support";
import {
  finish,
  graphOf,
  one,
  outputOf,
  planOf,
  STANDARD_TYPES,
} from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";

const registry = createRegistry([STANDARD_TYPES]);

describe("subflows", () => {
  const stored: { [slug: string]: FlowGraph } = {
    double: graphOf(
      "flow 1 double\ninput n: number = 1\nnode t: transform { value = inputs.n * 2 }\noutput n: number = t.value",
    ),
    bad: graphOf('flow 1 bad\nnode f: fail { message = "no"\n code = "inner" }'),
    loops: graphOf('flow 1 loops\nnode s: subflow { flow = "loops2" }'),
    loops2: graphOf('flow 1 loops2\nnode s: subflow { flow = "loops" }'),
    outer: graphOf(
      'flow 1 outer\nnode s: subflow { flow = "double"\n inputs = { n: 21 } }\noutput n: number = s.outputs.n',
    ),
  };
  const asked: unknown[] = [];
  const subflows: SubflowPort = {
    async get(ref) {
      asked.push(ref);
      const graph = stored[ref.slug];
      return graph === undefined ? null : { graph, digest: "" };
    },
  };

  test("runs in the run of its parent, with its own inputs and outputs", async () => {
    const { events } = await finish('node s: subflow { flow = "double"\n inputs = { n: 4 } }', {
      subflows,
    });
    expect(outputOf(events, "s")).toEqual({ outputs: { n: 8 } });
    expect(outputOf(events, "s/t")).toEqual({ value: 8 });
  });

  test("nests, has defaults, and is read once however often it is called", async () => {
    asked.length = 0;
    const { summary } = await finish(
      `node a: subflow { flow = "outer" }
node b: subflow { flow = "double" }
output sum: number = a.outputs.n + b.outputs.n`,
      { subflows },
    );
    expect(summary.outputs).toEqual({ sum: 44 });
    expect(asked).toEqual([{ slug: "outer" }, { slug: "double" }]);
  });

  test("its failure fails the node with subflow_failed and its code as the cause", async () => {
    const { summary, events } = await finish('node s: subflow { flow = "bad" }', { subflows });
    expect(summary.error).toMatchObject({ code: "subflow_failed", cause: "inner", node: "s" });
    expect(one(events, "node.failed", "s/f").routed).toBe("parent");
  });

  test("inputs that do not fit fail the node with input_invalid", async () => {
    const { summary } = await finish(
      'input x: any\nnode s: subflow { flow = "double"\n inputs = { n: inputs.x } }',
      {
        subflows,
        inputs: { x: "text" },
      },
    );
    expect(summary.error).toMatchObject({ code: "input_invalid", node: "s" });
  });

  test("one that does not exist or calls itself is an error with the way to it", async () => {
    const missing = await compileFlow(graphOf('node s: subflow { flow = "nothere" }'), {
      registry,
      subflows,
    });
    expect(missing.diagnostics).toMatchObject([
      { code: "FLOW4010", pointer: "/nodes/0/fields/flow", message: "flow nothere does not exist" },
    ]);
    const cyclic = await compileFlow(graphOf('node s: subflow { flow = "loops" }'), {
      registry,
      subflows,
    });
    expect(cyclic.diagnostics[0]?.message).toBe(
      "flow loops calls itself: loops -> loops2 -> loops",
    );
  });

  test("a chain of thousands of flows, and a web in which each calls the next ten times, end in one error", async () => {
    let read = 0;
    const endless = (calls: number): SubflowPort => ({
      async get({ slug }) {
        read += 1;
        const next = `f${Number(slug.slice(1)) + 1}`;
        const nodes = Array.from(
          { length: calls },
          (_, i) => `node s${i}: subflow { flow = "${next}" }`,
        );
        return { graph: graphOf(`flow 1 ${slug}\n${nodes.join("\n")}`), digest: "" };
      },
    });
    for (const calls of [1, 10]) {
      read = 0;
      const compiled = await compileFlow(graphOf('node s: subflow { flow = "f1" }'), {
        registry,
        subflows: endless(calls),
      });
      expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toMatchObject([
        {
          code: "limit_exceeded",
          pointer: "/nodes/0/fields/flow",
          message: expect.stringContaining("at most 16 levels"),
        },
      ]);
      expect(read).toBeLessThanOrEqual(17);
    }
    // Fifteen levels are allowed; each flow is read once, however many ways lead to it.
    const web = endless(10);
    read = 0;
    const end = graphOf("flow 1 f15\nnode t: transform { value = 1 }");
    const compiled = await compileFlow(graphOf('node s: subflow { flow = "f1" }'), {
      registry,
      subflows: {
        get: async (ref) => (ref.slug === "f15" ? { graph: end, digest: "" } : web.get(ref)),
      },
    });
    expect(compiled.ok).toBe(true);
    expect(read).toBe(14);
  });

  testUnless(notFull)(
    "flows that are read from the last to the first are no deeper than in the order of their calls",
    async () => {
      const chain = Array.from({ length: 2_000 }, (_, i) => `f${2_000 - i}`);
      const graph = graphOf(
        chain.map((slug, i) => `node s${i}: subflow { flow = "${slug}" }`).join("\n"),
      );
      const compiled = await compileFlow(graph, {
        registry,
        subflows: {
          async get({ slug }) {
            const n = Number(slug.slice(1));
            const body =
              n === 2_000
                ? "node t: transform { value = 1 }"
                : `node s: subflow { flow = "f${n + 1}" }`;
            return { graph: graphOf(`flow 1 ${slug}\n${body}`), digest: "" };
          },
        },
      });
      expect(compiled.ok).toBe(false);
      expect(compiled.diagnostics.map(({ code }) => code)).toContain("limit_exceeded");
    },
  );

  test("a changed subflow changes the digest of the plan, and more than its depth allows is refused", async () => {
    const graph = graphOf('node s: subflow { flow = "double" }');
    const one = await planOf(graph, { subflows });
    const changed = { ...stored["double"], nodes: [], outputs: [] } as unknown as FlowGraph;
    const other = await planOf(graph, {
      subflows: { get: async () => ({ graph: changed, digest: "" }) },
    });
    expect(one.digest).not.toBe(other.digest);
    const deep = await compileFlow(graphOf('node s: subflow { flow = "outer" }'), {
      registry,
      subflows,
      limits: { depth: 2 },
    });
    expect(deep.diagnostics.at(-1)).toMatchObject({ code: "limit_exceeded" });
  });

  test("references are slug, version or digest", () => {
    const hash = `sha256:${"0".repeat(64)}`;
    expect(parseFlowRef("a")).toEqual({ slug: "a" });
    expect(parseFlowRef("hub/a@3")).toEqual({ slug: "hub/a", version: 3 });
    expect(parseFlowRef(`a#${hash}`)).toEqual({ slug: "a", digest: hash });
    for (const bad of ["", "a@0", "a@x", "a#sha256:1", "a b"]) {
      expect(parseFlowRef(bad)).toBeUndefined();
    }
  });
});
