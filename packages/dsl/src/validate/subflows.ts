/** Calls of other flows (FLOW4010, and their inputs: FLOW3002-3006). */
import type { NodeModel } from "../model/bodies.ts";
import { schemasAt } from "../model/deferred.ts";
import { isObject, keysOf, listOrNone, own, step } from "../model/plain.ts";
import { isTooDeep } from "../model/values.ts";
import { nearestName } from "../nearest.ts";
import type { CatalogFlow } from "./catalog.ts";
import { shown, type Validation } from "./context.ts";
import { checkValue, withUnknowns } from "./field-values.ts";
import { literalText } from "./node-types.ts";

/** Flows that are followed to see whether one calls this flow; more are another program. */
const MAX_CALLED = 1000;

/** Checks every place that names a flow; without `catalog.flow` nothing is known of flows. */
export function checkSubflows(run: Validation): void {
  if (run.catalog.flow === undefined) return;
  for (const node of run.model.nodes) {
    const entry = run.entryOf(node);
    const fields = node.node.fields;
    if (entry === undefined || !isObject(fields)) continue;
    for (const name of keysOf(fields)) {
      const pointer = `${node.pointer}/fields${step(name)}`;
      const isFlow = schemasAt(entry.fields, name).some(
        (schema) => own(own(schema, "x-millrace"), "flow") === true,
      );
      const text = isFlow ? literalText(fields[name]) : undefined;
      if (text === undefined) continue;
      const flow = checkCall(run, slugOf(text), pointer);
      if (flow !== undefined && entry.type === "subflow")
        checkInputs(run, node, slugOf(text), flow);
    }
    if (entry.kind !== "ai") continue;
    listOrNone(own(fields, "tools")).forEach((tool, at) => {
      const ref = typeof tool === "string" ? tool : own(tool, "ref");
      if (typeof ref !== "string" || !ref.startsWith("flow:")) return;
      const pointer = `${node.pointer}/fields/tools/${at}`;
      checkCall(run, slugOf(ref.slice("flow:".length)), pointer);
    });
  }
}

/** The slug without version or digest. */
function slugOf(text: string): string {
  return text.replace(/(?:@\d+|#sha256:[0-9a-f]*)$/, "");
}

function checkCall(run: Validation, slug: string, pointer: string): CatalogFlow | undefined {
  const { id } = run.graph;
  const path = slug === id ? [slug] : pathTo(run, slug, id);
  if (path !== undefined) {
    const shownPath = [id, ...path].map(shown).join(" -> ");
    run.findings.add("FLOW4010", pointer, {
      message: `flow ${shown(id)} calls itself: ${shownPath}`,
    });
  }
  const flow = run.catalog.flow?.(slug);
  if (flow === undefined && slug !== id) {
    run.findings.add("FLOW4010", pointer, { parts: { slug: shown(slug) } });
  }
  return flow;
}

/** The calls that lead from a flow to another. */
function pathTo(run: Validation, from: string, to: string): string[] | undefined {
  const callers = new Map<string, string | undefined>([[from, undefined]]);
  const open = [from];
  for (let at = 0; at < open.length && at < MAX_CALLED; at += 1) {
    const slug = open[at] as string;
    for (const called of run.catalog.flow?.(slug)?.flows ?? []) {
      const next = slugOf(called);
      if (callers.has(next)) continue;
      callers.set(next, slug);
      open.push(next);
    }
  }
  if (!callers.has(to)) return undefined;
  const path: string[] = [];
  for (let slug: string | undefined = to; slug !== undefined; slug = callers.get(slug))
    path.unshift(slug);
  return path;
}

function checkInputs(run: Validation, node: NodeModel, slug: string, flow: CatalogFlow): void {
  const given = own(node.node.fields, "inputs");
  if (given !== undefined && (!isObject(given) || isTooDeep(given))) return;
  const values = withUnknowns(given ?? {}, () => undefined);
  if (!isObject(values)) return;
  const pointer = `${node.pointer}/fields/inputs`;
  const type = `flow ${shown(slug)}`;
  const names = flow.inputs.map(({ name }) => name);
  for (const { name, schema, default: fallback } of flow.inputs) {
    if (Object.hasOwn(values, name)) {
      checkValue(run, values[name], schema, {
        pointer: pointer + step(name),
        name: `inputs.${name}`,
      });
    } else if (fallback === undefined) {
      const at = given === undefined ? node.pointer : pointer;
      run.findings.add("FLOW3002", at, { parts: { type, name: shown(name) } });
    }
  }
  for (const key of keysOf(values)) {
    if (names.includes(key)) continue;
    const near = nearestName(key, names);
    run.findings.add("FLOW3003", pointer + step(key), {
      parts: { type, name: shown(key), ...(near !== undefined && { near }) },
    });
  }
}
