// The same flow in another format: its graph in JSON, JSON or YAML as other tools have it.
import { parseFlow } from "@millrace/dsl";

const text = JSON.stringify;

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
    if (typeof each === "object" && Object.keys(each ?? {}).length > 0 && !Array.isArray(each))
      return `${indent}${key}:\n${yaml(each, `${indent}  `)}`;
    return `${indent}${key}: ${typeof each === "string" && /^[\w./-]+$/.test(each) ? each : text(each)}`;
  });
  return lines.join("\n");
}

/** Inputs in a list, as their JSON Schema and their default. */
const inputList = ({ inputs = [] }) =>
  inputs.map(({ name, schema, default: usual }) => ({ name, ...schema, default: usual }));

/** Outputs in a list, with their JSON Schema. */
const outputList = ({ outputs = [] }, open, close) =>
  outputs.map(({ name, schema, value }) => ({
    name,
    ...schema,
    value: plain(value, open, close),
  }));

/** Elements of a list by name; undefined: there are none. */
const byName = (list) =>
  list.length === 0 ? undefined : Object.fromEntries(list.map(({ name, ...rest }) => [name, rest]));

/** Without members that are not there. */
const compact = (value) => JSON.parse(JSON.stringify(value));

/** The steps of a graph one after another, where its edges say no more than that. */
function inOrder(graph) {
  if (graph.edges.some(({ port }) => port !== "out")) return undefined;
  return graph.nodes;
}

export const documentSlips = {
  "a graph in JSON": (source) => `${JSON.stringify(parseFlow(source).graph, null, 2)}\n`,
  "nodes and edges in JSON": (source) => {
    const graph = simple(source);
    return graph && `${text(shown(graph, "${", "}"), null, 2)}\n`;
  },
  "nodes of n8n": (source) => {
    const graph = simple(source);
    if (!graph) return undefined;
    const { id: name, nodes, edges, ...rest } = shown(graph, "{{ ", " }}");
    const connections = edgesOf(graph.edges, "source", "target");
    const steps = nodes.map(({ id, type, fields: parameters }) => ({ name: id, type, parameters }));
    return `${text({ name, nodes: steps, connections, ...rest }, null, 2)}\n`;
  },
  "steps in YAML": (source) => stepsIn(source, (top) => top),
  "jobs of GitHub": (source) =>
    stepsIn(source, ({ name, inputs, steps, outputs }) => ({
      name,
      on: inputs ? { workflow_dispatch: { inputs } } : "workflow_dispatch",
      jobs: {
        main: {
          "runs-on": "ubuntu-latest",
          steps: steps.map(({ type: uses, ...step }) => ({ ...step, uses })),
          outputs,
        },
      },
    })),
  "nodes and edges in YAML": (source) => {
    const graph = simple(source);
    return graph && `${yaml(compact(shown(graph, "${", "}")))}\n`;
  },
};

/** A graph as models show one in another format. */
const shown = (graph, open, close) => ({
  id: graph.id,
  inputs: graph.inputs && inputList(graph),
  nodes: graph.nodes.map(({ id, type, fields = {} }) => ({
    id,
    type,
    fields: plain(fields, open, close),
  })),
  edges: edgesOf(graph.edges, "from", "to"),
  outputs: graph.outputs && outputList(graph, open, close),
});

/** A graph without ports as steps in their order, in YAML. */
function stepsIn(source, finish) {
  const graph = simple(source);
  const nodes = graph && inOrder(graph);
  if (!nodes) return undefined;
  const [open, close] = ["${{ ", " }}"];
  const steps = nodes.map(({ id, type, fields = {} }) => ({
    id,
    type,
    with: plain(fields, open, close),
  }));
  const top = {
    name: graph.id,
    inputs: byName(inputList(graph)),
    steps,
    outputs: byName(outputList(graph, open, close)),
  };
  return `${yaml(compact(finish(top)))}\n`;
}
