/** From a graph to a plan: validate, read subflows, lay out. Runs no node, opens no socket, reads no file. */
import type { Diagnostic, FlowGraph, FlowNode } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { must } from "@millrace/contracts/shape";
import {
  completeGraph,
  digest,
  type FlowCatalog,
  type FlowDocument,
  locate,
  validateFlow,
} from "@millrace/dsl";
import { EngineError } from "../errors.ts";
import { engineLimits, type Limits } from "../limits.ts";
import type { NodeType } from "../node-type.ts";
import { checkOptions, FLAG, has, LIMITS, optionsOf, RECORD, TEXT } from "../option-rules.ts";
import type { SubflowPort } from "../options.ts";
import { createPortableHost } from "../portable-host.ts";
import type { Registry } from "../registry.ts";
import { digestOf } from "../values.ts";
import { literalFields } from "./fields.ts";
import { type Layout, type LayoutOptions, layOut } from "./layout.ts";
import type { Names, OutsideNames } from "./names.ts";
import { type Need, Plan } from "./plan.ts";
import { type Called, callsOf, resolveSubflows } from "./subflows.ts";
import { toolRefs } from "./tools.ts";

/** Options of compiling a flow. */
export interface CompileOptions {
  readonly registry: Registry;
  /** Data for validation, such as the services and the providers of models; default: the node types of `registry` alone. */
  readonly catalog?: FlowCatalog | undefined;
  /** Where flows that this one calls come from; absent: there is none. */
  readonly subflows?: SubflowPort | undefined;
  readonly limits?: Partial<Limits>;
  /** Code of extensions is not loaded: what their own checks would find is left out. Default false. */
  readonly withoutCode?: boolean;
  /** The document that the graph was read from; adds ranges and fixes to the diagnostics. */
  readonly document?: FlowDocument;
  /** Digest of the graph, where it is known: `flowHash` of a run's header. Absent: it is made. */
  readonly hash?: string;
  /** Findings of `validateFlow` or `checkFlow` with this catalog: the graph is not validated again. Part of the result. */
  readonly checked?: readonly Diagnostic[] | undefined;
}

/** A plan, or what is wrong with the flow, and `plan` is undefined; `diagnostics` of a plan hold no error. */
export type CompileResult =
  | { readonly ok: true; readonly plan: Plan; readonly diagnostics: Diagnostic[] }
  | { readonly ok: false; readonly plan?: undefined; readonly diagnostics: Diagnostic[] };

/**
 * Compiles a flow. What is wrong with it are diagnostics, all of them at once; a plan comes with warnings at most. A bad graph
 * never throws; a subflow port that rejects does. Throws `EngineError` `input_invalid` for options that are not what they must be.
 */
export async function compileFlow(
  graph: FlowGraph,
  options: CompileOptions,
): Promise<CompileResult> {
  checkCompileOptions(graph, options);
  const compiled = await compile(graph, options);
  const { document } = options;
  if (document === undefined) return compiled;
  const diagnostics = compiled.diagnostics.map((each) => withRange(each, document));
  return { ...compiled, diagnostics };
}

/** A finding with the text of its place, else of the nearest place around it. */
function withRange(diagnostic: Diagnostic, document: FlowDocument): Diagnostic {
  if (diagnostic.range !== undefined) return diagnostic;
  for (let at = diagnostic.pointer ?? ""; ; at = at.slice(0, at.lastIndexOf("/"))) {
    const range = locate(document, at);
    if (range !== undefined) return { ...diagnostic, range };
    if (at === "") return diagnostic;
  }
}

async function compile(given: FlowGraph, options: CompileOptions): Promise<CompileResult> {
  const graph = completeGraph(given);
  const { registry, document, checked, catalog = registry.catalog() } = options;
  const limits = engineLimits(options.limits);
  const tooBig = sizeProblem([graph], limits);
  if (tooBig !== null) return { ok: false, diagnostics: [tooBig] };
  const diagnostics = [
    ...(checked ?? validateFlow(graph, catalog, { ...(document && { document }) })),
  ];
  if (hasError(diagnostics)) return { ok: false, diagnostics };
  const resolved = await resolveSubflows(graph, {
    port: options.subflows,
    catalog,
    depth: limits.depth,
  });
  diagnostics.push(...resolved.diagnostics);
  const { flows } = resolved;
  if (!hasError(diagnostics)) {
    diagnostics.push(...calledProblems(graph, flows, catalog));
    const whole = sizeProblem(
      [graph, ...[...flows.values()].map((called) => called.graph)],
      limits,
    );
    if (whole !== null) diagnostics.push(whole);
  }
  for (const { graph: one, at } of [
    { graph, at: "" },
    ...[...flows].map(([text, called]) => ({ graph: called.graph, at: pointerOf(graph, text) })),
  ]) {
    diagnostics.push(...(await checkTypes(one, at, limits, options)));
  }
  if (hasError(diagnostics)) return { ok: false, diagnostics };
  const outside: OutsideNames = { vars: new Set(), secrets: new Set() };
  const layout = layOutAll(graph, flows, { registry, limits, outside });
  if (layout.depth > limits.depth) {
    diagnostics.push(limitProblem("depth", `${layout.depth} levels, at most ${limits.depth}`));
    return { ok: false, diagnostics };
  }
  const { hash = digest(graph) } = options;
  const used = typesIn(graph, flows, registry);
  const identity = { digest: digestOfAll(hash, flows, used), needs: needsOf(used) };
  const { id, title } = graph;
  const flow = title === undefined ? { id, hash } : { id, title, hash };
  const [vars, secrets] = [[...outside.vars].sort(), [...outside.secrets].sort()];
  const plan = new Plan(
    { graph: { ...graph }, flows, layout: layout.layout, flow, secrets },
    { ...identity, vars },
  );
  return { ok: true, plan, diagnostics };
}

/** Errors of the flows that are called, told at the place that calls them. */
function calledProblems(
  graph: FlowGraph,
  flows: ReadonlyMap<string, Called>,
  catalog: FlowCatalog,
): Diagnostic[] {
  return [...flows].flatMap(([text, called]) =>
    validateFlow(called.graph, catalog)
      .filter(({ severity }) => severity === "error")
      .map((diagnostic) => ({
        code: diagnostic.code,
        severity: diagnostic.severity,
        message: `in flow ${text}: ${diagnostic.message}`,
        pointer: pointerOf(graph, text),
      })),
  );
}

/** Where a called flow enters the graph; a flow called by another one is told at the flow itself. */
function pointerOf(graph: FlowGraph, text: string): string {
  return callsOf(graph).find((call) => call.text === text)?.pointer ?? "";
}

/** Findings of the types' own checks, about literal fields. */
async function checkTypes(
  graph: FlowGraph,
  at: string,
  limits: Limits,
  { registry, withoutCode = false }: CompileOptions,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const stack: { nodes: readonly FlowNode[]; at: string }[] = [
    { nodes: graph.nodes, at: "/nodes" },
  ];
  for (let level = stack.pop(); level !== undefined; level = stack.pop()) {
    for (const [i, node] of level.nodes.entries()) {
      const pointer = `${level.at}/${i}`;
      if (node.body !== undefined) {
        stack.push({ nodes: node.body.nodes, at: `${pointer}/body/nodes` });
      }
      const type = registry.get(node.type, node.typeVersion);
      if (type?.check === undefined || (withoutCode && type.foreign === true)) continue;
      const fields = literalFields(node, type, { names: NO_NAMES, limits });
      const findings = type.check(fields, node.fields);
      for (const finding of Array.isArray(findings) ? findings : await findings) {
        const { severity, message } = finding;
        const place = at === "" ? `${pointer}/fields${finding.pointer}` : at;
        found.push({
          code: finding.code.startsWith("FLOW") ? finding.code : "FLOW3016",
          severity,
          message: `${node.id}: ${message}`,
          pointer: place,
        });
      }
    }
  }
  return found;
}

const NO_NAMES: Names = { locals: new Set(), nodes: new Map(), outer: null };

/** Lays the flow out; a flow that is called from several places is laid out once. */
function layOutAll(
  graph: FlowGraph,
  flows: ReadonlyMap<string, Called>,
  options: Omit<LayoutOptions, "flow">,
): { layout: Layout; depth: number } {
  const made = new Map<string, Layout>();
  const layOutFlow = (one: FlowGraph): Layout =>
    layOut(
      {
        flowId: one.id,
        nodes: one.nodes,
        edges: one.edges,
        outputs: one.outputs,
        inputs: one.inputs,
        connections: one.connections,
        locals: [],
      },
      null,
      {
        ...options,
        flow(text) {
          const { graph: called } = flows.get(text) as Called;
          const known = made.get(text);
          if (known !== undefined) return { layout: known, graph: called };
          const laidOut = layOutFlow(called);
          made.set(text, laidOut);
          return { layout: laidOut, graph: called };
        },
      },
    ).layout;
  const layout = layOutFlow(graph);
  return { layout, depth: depthOf(layout, new Map()) };
}

/** Levels of frames that a layout may open. Layouts form a tree with shared branches, at most as deep as bodies nest. */
function depthOf(layout: Layout, known: Map<Layout, number>): number {
  const cached = known.get(layout);
  if (cached !== undefined) return cached;
  let deepest = 0;
  const tools = layout.tools.flatMap((one) => [...(one?.flows.values() ?? [])]);
  for (const inner of [...layout.bodies, ...tools.map((tool) => tool.layout)]) {
    if (inner !== null) deepest = Math.max(deepest, depthOf(inner, known));
  }
  known.set(layout, deepest + 1);
  return deepest + 1;
}

/** The same work is the same graph, the same flows that it calls, and the same code of extensions. */
function digestOfAll(
  hash: string,
  flows: ReadonlyMap<string, Called>,
  used: ReadonlySet<NodeType>,
): string {
  const called = [...flows].map(([text, one]): [string, string] => [text, one.digest]);
  called.sort(([a], [b]) => (a < b ? -1 : 1));
  const foreign = [...used].flatMap(({ entry: { type, version, source } }): [string, string][] =>
    "digest" in source ? [[`${type}@${version}`, `${source.package} ${source.digest}`]] : [],
  );
  foreign.sort(([a], [b]) => (a < b ? -1 : 1));
  if (called.length === 0 && foreign.length === 0) return hash;
  const whole = { graph: hash, flows: called, ...(foreign.length > 0 && { types: foreign }) };
  return digestOf(whole, createPortableHost());
}

/** The types of all nodes, and of the actions that they have as tools. */
function typesIn(
  graph: FlowGraph,
  flows: ReadonlyMap<string, Called>,
  registry: Registry,
): ReadonlySet<NodeType> {
  const seen = new Set<NodeType>();
  const stack = [graph.nodes, ...[...flows.values()].map((called) => called.graph.nodes)];
  for (let nodes = stack.pop(); nodes !== undefined; nodes = stack.pop()) {
    for (const node of nodes) {
      if (node.body !== undefined) stack.push(node.body.nodes);
      const type = registry.get(node.type, node.typeVersion);
      const tools = toolRefs(node).map(({ ref }) => registry.get(ref.replace(/^action:/, "")));
      for (const one of [type, ...tools]) if (one !== undefined) seen.add(one);
    }
  }
  return seen;
}

function needsOf(used: ReadonlySet<NodeType>): readonly Need[] {
  const needs = new Set([...used].flatMap(({ entry }) => needsOfType(entry)));
  return Object.freeze([...needs].sort());
}

/** Core adapters need what their name says; extensions what their package declares. */
function needsOfType({ type, requires, source }: ReturnType<Registry["entries"]>[number]): Need[] {
  const { permissions, secrets, connection } = requires;
  const needs: Need[] = [];
  const own = source.package === "core" ? CORE_NEEDS[type.split(".")[0] ?? ""] : undefined;
  if (own !== undefined) needs.push(own);
  if ((permissions.net ?? []).length > 0) needs.push("net");
  if (permissions.fs !== undefined) needs.push("files");
  if ((permissions.spawn ?? []).length > 0) needs.push("shell");
  const isOptional = type === "http.request"; // whether a node of it names a connection is up to the flow
  if (secrets.length > 0 || (connection !== undefined && !isOptional)) needs.push("credentials");
  return needs;
}

const CORE_NEEDS: { readonly [adapter: string]: Need } = {
  http: "net",
  service: "net",
  file: "files",
  shell: "shell",
  ai: "ai",
};

/** More nodes or edges than one plan may have. */
function sizeProblem(graphs: readonly FlowGraph[], limits: Limits): Diagnostic | null {
  let nodes = 0;
  let edges = 0;
  const stack: unknown[] = [...graphs];
  for (let level = stack.pop(); level !== undefined; level = stack.pop()) {
    const { nodes: list, edges: links } = (level ?? {}) as { nodes?: unknown; edges?: unknown };
    if (!Array.isArray(list)) continue; // no graph at all: validation says so
    nodes += list.length;
    edges += Array.isArray(links) ? links.length : 0;
    for (const node of list) if (node?.body !== undefined) stack.push(node.body);
  }
  if (nodes > limits.nodes) return limitProblem("nodes", `${nodes} nodes, at most ${limits.nodes}`);
  return edges > limits.edges
    ? limitProblem("edges", `${edges} edges, at most ${limits.edges}`)
    : null;
}

function limitProblem(name: string, detail: string): Diagnostic {
  return {
    code: "limit_exceeded",
    severity: "error",
    message: `limit ${name}: the flow has ${detail}`,
    pointer: "",
  };
}

function hasError(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

const COMPILE = optionsOf<CompileOptions>({
  registry: must(has("get", "require", "entries", "catalog"), "what createRegistry makes"),
  catalog: must(has("entry", "types"), "a catalog with entry and types"),
  subflows: must(has("get"), "a port with get"),
  limits: LIMITS,
  withoutCode: FLAG,
  hash: TEXT,
  document: RECORD,
  checked: must(Array.isArray, "a list of diagnostics"),
});

/** Arguments of `compileFlow`. */
function checkCompileOptions(graph: FlowGraph, options: CompileOptions): void {
  const { graph: inner, diagnostics } = Object(graph);
  if (isObject(inner) && Array.isArray(diagnostics)) {
    const text = "compileFlow takes `parsed.graph`; this is the whole result of parseFlow";
    throw new EngineError("input_invalid", text);
  }
  checkOptions(options ?? {}, COMPILE);
  if (options?.registry === undefined) {
    throw new EngineError(
      "input_invalid",
      "options.registry is missing: compileFlow(graph, { registry: createRegistry() })",
    );
  }
}
