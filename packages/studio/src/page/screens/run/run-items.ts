/**
 * The nodes of a run as a tree: those of its flow, with the items of bodies below them as far as the run has come.
 *   I1  Every node of the flow that no body holds has an item, also before it begins.
 *   I2  Above 100 items of a body, those that failed come first; else they stand in their order.
 */
import type { FlowBody, FlowGraph, FlowNode, NodeState, RunView } from "@millrace/contracts";
import type { TreeItem } from "../../parts/tree/node-tree.tsx";

/** Items of a body that are shown in their order; of more the failed ones come first. */
const IN_ORDER = 100;

/** Order of states where items of a body differ: the first of these states is shown. */
const RANK: readonly NodeState[] = [
  "failed",
  "cancelled",
  "retrying",
  "waiting",
  "running",
  "pending",
  "succeeded",
  "skipped",
];

/** Paths below an owner: by the step from the owner to its item, such as `[3]`, `~2[3]` or "", in order of appearance. */
type Groups = ReadonlyMap<string, readonly string[]>;

/** Parts of a tree. */
export interface RunTree {
  readonly graph: FlowGraph | undefined;
  readonly view: RunView;
  /** The run repeats another one: results that were there already come from it. */
  readonly isRepeat: boolean;
}

/** The tree of a run. */
export function runItems({ graph, view, isRepeat }: RunTree): readonly TreeItem[] {
  const index = indexOf(view);
  const body = graph ?? { nodes: [] };
  const known = [...view.nodes.keys()].filter((path) => !path.includes("/"));
  return itemsOf({ view, isRepeat, index }, { prefix: "", body, known });
}

interface Context {
  readonly view: RunView;
  readonly isRepeat: boolean;
  readonly index: ReadonlyMap<string, Groups>;
}

/** One body as it ran. `prefix`: what its paths begin with; `known`: paths that have appeared. */
interface Level {
  readonly prefix: string;
  readonly body: Pick<FlowBody, "nodes"> | undefined;
  readonly known: readonly string[];
}

function itemsOf(context: Context, { prefix, body, known }: Level): TreeItem[] {
  const nodes = new Map((body?.nodes ?? []).map((node) => [prefix + node.id, node]));
  const paths = new Set([...nodes.keys(), ...known]);
  return [...paths].map((path) => itemOf(context, path, nodes.get(path)));
}

function itemOf(context: Context, path: string, node: FlowNode | undefined): TreeItem {
  const { view, isRepeat, index } = context;
  const live = view.nodes.get(path);
  const groups = index.get(path);
  // A body node that is no longer kept has ended somehow; one that has not appeared has not begun.
  const state = live?.state ?? (view.trimmed > 0 && path.includes("/") ? undefined : "pending");
  return {
    path,
    id: idOf(path),
    type: live?.type ?? node?.type ?? "node",
    ...(state !== undefined && { state }),
    ...(isRepeat && live?.cached === true && { isTakenOver: true }),
    ...(groups !== undefined && { children: () => childrenOf(context, path, groups, node?.body) }),
  };
}

function childrenOf(
  context: Context,
  path: string,
  groups: Groups,
  body: FlowBody | undefined,
): readonly TreeItem[] {
  // A flow inside of another one has no items; only later attempts of it are told apart.
  const plain = groups.get("");
  const first = plain && itemsOf(context, { prefix: `${path}/`, body, known: plain });
  const items = [...groups].flatMap(([step, known]): (TreeItem & { state: NodeState })[] =>
    step === ""
      ? []
      : [
          {
            path: path + step,
            id: step,
            type: "item",
            state: worstOf(known.map((each) => context.view.nodes.get(each)?.state ?? "pending")),
            children: () => itemsOf(context, { prefix: `${path}${step}/`, body, known }),
          },
        ],
  );
  items.sort((a, b) => compareSteps(a.id, b.id));
  if (first !== undefined) return [...first, ...items];
  if (items.length <= IN_ORDER) return items;
  const isFailed = ({ state }: { readonly state: NodeState }): boolean => state === "failed";
  return [...items.filter(isFailed), ...items.filter((item) => !isFailed(item))];
}

/** Where several nodes stand together. */
function worstOf(states: readonly NodeState[]): NodeState {
  return RANK.find((state) => states.includes(state)) ?? "pending";
}

/** `[2]` before `[10]`, the first attempt before the second. */
function compareSteps(a: string, b: string): number {
  const [attemptA, itemA] = stepNumbers(a);
  const [attemptB, itemB] = stepNumbers(b);
  return attemptA - attemptB || itemA - itemB;
}

function stepNumbers(step: string): readonly [number, number] {
  return [Number(/~(\d+)/.exec(step)?.[1] ?? 1), Number(/\[(\d+)\]/.exec(step)?.[1] ?? -1)];
}

function indexOf(view: RunView): ReadonlyMap<string, Groups> {
  const index = new Map<string, Map<string, string[]>>();
  for (const path of view.nodes.keys()) {
    const slash = path.lastIndexOf("/");
    if (slash < 0) continue;
    const item = path.slice(0, slash);
    const owner = item.replace(STEP, "");
    const step = item.slice(owner.length);
    const groups = index.get(owner) ?? new Map<string, string[]>();
    index.set(owner, groups);
    const group = groups.get(step);
    if (group === undefined) groups.set(step, [path]);
    else group.push(path);
  }
  return index;
}

const STEP = /(~\d+)?(\[\d+\])?$/;

/** The id of a node: the last part of its path. */
export function idOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path in the flow: without what tells attempts and items apart, `pages[3]/get` as `pages/get`. */
export function flowPathOf(path: string): string {
  return path.replace(/\[\d+\]|~\d+/g, "");
}

/** The node of the flow itself that a path lies in: `pages[3]/get` in `pages`. */
export function topOf(path: string): string {
  const end = path.search(/[/[~]/);
  return end < 0 ? path : path.slice(0, end);
}

/** Which node of the run a path in the flow stands for: of the items of a body the one that went worst. */
export function runPathOf(view: RunView, flowPath: string): string {
  if (view.nodes.has(flowPath)) return flowPath;
  let best: string | undefined;
  for (const [path, { state }] of view.nodes) {
    if (flowPathOf(path) !== flowPath) continue;
    const before = best === undefined ? undefined : view.nodes.get(best)?.state;
    if (before === undefined || RANK.indexOf(state) < RANK.indexOf(before)) best = path;
  }
  return best ?? flowPath;
}
