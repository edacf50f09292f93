// The same flow in another format: its graph in JSON, JSON or YAML as other tools have it.
import { parseFlow } from "@millrace/dsl";

const text = (value) => JSON.stringify(value);

/** Values of a graph as other tools write them: an expression is a hole in a string. */
function plain(value, open, close) {
  if (Array.isArray(value)) return value.map((each) => plain(each, open, close));
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.$ === "string") return `${open}${value.$}${close}`;
  if (Array.isArray(value.$t))
    return value.$t
      .map((part) => (typeof part === "string" ? part : `${open}${part.$}${close}`))
      .join("");
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, plain(each, open, close)]),
  );
}

/** A graph that other formats can hold: without bodies, policies and schedules. */
function simple(source) {
  const { graph } = parseFlow(source);
  const isSimple = graph.nodes.every(
    ({ body, policy }) => body === undefined && policy === undefined,
  );
  return isSimple && !graph.schedules?.length ? graph : undefined;
}

const edgesOf = (edges, from, to) =>
  edges.map((edge) => ({
    [from]: edge.from,
    [to]: edge.to,
    ...(edge.port !== "out" && { port: edge.port }),
  }));

function yaml(value, indent = "") {
  const lines = Object.entries(value).map(([key, each]) => {
    if (Array.isArray(each) && each.some((one) => typeof one === "object"))
      return `${indent}${key}:\n${each.map((one) => `${indent}  - ${yaml(one, `${indent}    `).trimStart()}`).join("\n")}`;
    if (typeof each === "object" && each !== null && !Array.isArray(each))
      return `${indent}${key}:\n${yaml(each, `${indent}  `)}`;
    return `${indent}${key}: ${typeof each === "string" && /^[\w./-]+$/.test(each) ? each : text(each)}`;
  });
  return lines.join("\n");
}

/** Inputs by name; undefined: there are none. */
function inputsOf({ inputs = [] }) {
  if (inputs.length === 0) return undefined;
  return Object.fromEntries(
    inputs.map(({ name, schema, default: usual }) => [
      name,
      { type: schema?.type ?? "string", ...(usual !== undefined && { default: usual }) },
    ]),
  );
}

/** The steps of a graph one after another, where its edges say no more than that. */
function inOrder(graph) {
  if (graph.edges.some(({ port }) => port !== "out")) return undefined;
  return graph.nodes;
}

export const documentSlips = {
  "a graph in JSON": (source) => `${JSON.stringify(parseFlow(source).graph, null, 2)}\n`,
  "nodes and edges in JSON": (source) => {
    const graph = simple(source);
    if (!graph) return undefined;
    const nodes = graph.nodes.map(({ id, type, fields = {} }) => ({
      id,
      type,
      fields: plain(fields, "${", "}"),
    }));
    const shown = {
      id: graph.id,
      inputs: graph.inputs?.map(({ name, schema, ...rest }) => ({
        name,
        type: schema?.type ?? "string",
        ...rest,
      })),
      nodes,
      edges: edgesOf(graph.edges, "from", "to"),
      outputs: graph.outputs?.map(({ name, value }) => ({ name, value: plain(value, "${", "}") })),
    };
    return `${JSON.stringify(shown, null, 2)}\n`;
  },
  "nodes of n8n": (source) => {
    const graph = simple(source);
    if (!graph || graph.inputs?.length > 0) return undefined;
    const nodes = graph.nodes.map(({ id, type, fields = {} }) => ({
      name: id,
      type,
      parameters: plain(fields, "{{ ", " }}"),
    }));
    return `${JSON.stringify({ name: graph.id, nodes, connections: edgesOf(graph.edges, "source", "target") }, null, 2)}\n`;
  },
  "steps in YAML": (source) => {
    const graph = simple(source);
    const nodes = graph && inOrder(graph);
    if (!nodes) return undefined;
    const inputs = inputsOf(graph);
    const steps = nodes.map(({ id, type, fields = {} }) => ({
      id,
      type,
      with: plain(fields, "${{ ", " }}"),
    }));
    const outputs = graph.outputs?.map(({ name, value }) => [name, plain(value, "${{ ", " }}")]);
    return `${yaml({
      name: graph.id,
      ...(inputs && { inputs }),
      steps,
      ...(outputs && { outputs: Object.fromEntries(outputs) }),
    })}\n`;
  },
  "jobs of GitHub": (source) => {
    const graph = simple(source);
    const nodes = graph && inOrder(graph);
    if (!nodes) return undefined;
    const steps = nodes.map(({ id, type, fields = {} }) => ({
      id,
      uses: type,
      with: plain(fields, "${{ ", " }}"),
    }));
    const inputs = inputsOf(graph);
    const outputs = graph.outputs?.map(({ name, value }) => [name, plain(value, "${{ ", " }}")]);
    const on = inputs ? { workflow_dispatch: { inputs } } : "workflow_dispatch";
    const main = {
      "runs-on": "ubuntu-latest",
      steps,
      ...(outputs && { outputs: Object.fromEntries(outputs) }),
    };
    return `${yaml({ name: graph.id, on, jobs: { main } })}\n`;
  },
  "nodes and edges in YAML": (source) => {
    const graph = simple(source);
    if (!graph) return undefined;
    const nodes = graph.nodes.map(({ id, type, fields = {} }) => ({
      id,
      type,
      fields: plain(fields, "${", "}"),
    }));
    const edges = edgesOf(graph.edges, "from", "to");
    return `${yaml({ id: graph.id, nodes, ...(edges.length > 0 && { edges }) })}\n`;
  },
};
