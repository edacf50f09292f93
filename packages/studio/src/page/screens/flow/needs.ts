/** Requirements of a flow on its server, and the state of each. */
import type { FieldValue, FlowGraph } from "@millrace/contracts";
import type { FlowProject } from "../../editor/project.ts";
import { effectMeaning } from "../../parts/effect.tsx";
import { placeHref } from "../../router.ts";
import { everyNode } from "../../state/flow-nodes.ts";

/** One thing that a flow needs. */
export interface Need {
  readonly kind: "connection" | "provider" | "model" | "flow" | "effect";
  readonly name: string;
  /** Its state in words. */
  readonly state: string;
  readonly isMet: boolean;
  /** Where it is mended. */
  readonly mend?: { readonly title: string; readonly href: string };
}

/** Everything that a flow needs, by kind. */
export function needsOf(graph: FlowGraph, project: FlowProject): readonly Need[] {
  const nodes = [...everyNode(graph)];
  const literals = (field: string, isWanted: (type: string) => boolean): string[] => [
    ...new Set(
      nodes.flatMap(({ node }) => {
        const value: FieldValue | undefined = node.fields[field];
        return isWanted(node.type) && typeof value === "string" && value !== "" ? [value] : [];
      }),
    ),
  ];
  const isAi = (type: string): boolean => project.types.get(type)?.kind === "ai";
  return [
    ...connections(graph, project),
    ...literals("provider", isAi).map((name) => provider(name, project)),
    ...literals("model", isAi).map((name) => model(name, project)),
    ...literals("flow", (type) => type === "subflow").map((name) => calledFlow(name, project)),
    ...effects(nodes, project),
  ];
}

function connections(graph: FlowGraph, project: FlowProject): Need[] {
  return graph.connections.map(({ name, slug = name, service }) => {
    const found = project.connections.find((each) => each.slug === slug);
    const isMet = found?.status === "connected";
    const wanted = service ?? found?.service ?? slug;
    const isKnown = project.services.some((each) => each.slug === wanted);
    const state =
      found?.status.replaceAll("_", " ") ?? (isKnown ? "not connected" : "no service of this name");
    const mend = {
      title: isKnown ? `Connect ${slug}` : "Services",
      href: placeHref(["connections"], isKnown ? { connect: slug, service: wanted } : {}),
    };
    return { kind: "connection", name, state, isMet, ...(!isMet && { mend }) };
  });
}

function provider(name: string, { providers }: FlowProject): Need {
  const found = providers?.find((each) => each.name === name);
  const mend = { title: "Settings", href: placeHref(["settings"]) };
  if (providers === undefined) return { kind: "provider", name, state: "unknown", isMet: true };
  if (found === undefined) {
    return { kind: "provider", name, state: "not configured", isMet: false, mend };
  }
  const isMet = found.credential !== "missing";
  const state = {
    present: "has a credential",
    missing: "credential missing",
    not_needed: "needs no credential",
    unknown: "credential unknown",
  }[found.credential];
  return { kind: "provider", name, state, isMet, ...(!isMet && { mend }) };
}

/** Only models of this machine are known by name; what a provider has is its own. */
function model(name: string, { providers }: FlowProject): Need {
  const local = providers?.find((each) => each.name === "local")?.models ?? [];
  const isHere = local.includes(name);
  return {
    kind: "model",
    name,
    state: isHere ? "installed on the server" : "from its provider",
    isMet: true,
  };
}

function calledFlow(name: string, { flows }: FlowProject): Need {
  const isMet = flows.includes(name);
  const mend = { title: "New flow", href: placeHref(["new"]) };
  return {
    kind: "flow",
    name,
    state: isMet ? "stored" : "not stored",
    isMet,
    ...(!isMet && { mend }),
  };
}

function effects(
  nodes: readonly { readonly path: string; readonly node: { readonly type: string } }[],
  { types }: FlowProject,
): Need[] {
  return nodes.flatMap(({ path, node }): Need[] => {
    const effect = types.get(node.type)?.effect;
    if (effect !== "write" && effect !== "destructive") return [];
    const state = effectMeaning(effect);
    return [{ kind: "effect", name: path, state, isMet: true }];
  });
}
