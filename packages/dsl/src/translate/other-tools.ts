/** Files of other tools, recognised by their members, with our counterparts of their parts. */

import type { Part } from "./part.ts";

/** Whether a name is that of a type of nodes. */
export type IsType = (name: string) => boolean;

interface OtherTool {
  readonly name: string;
  readonly is: (members: ReadonlyMap<string, Part>, document: Part, isType: IsType) => boolean;
  /** Our counterpart. */
  readonly hint: string;
}

const has = (members: ReadonlyMap<string, Part>, ...keys: string[]): boolean =>
  keys.every((key) => members.has(key));

const TOOLS: readonly OtherTool[] = [
  {
    name: "a workflow of n8n",
    is: (members) =>
      (members.get("nodes")?.elements ?? []).some((node) =>
        /^(?:@?n8n[-/])/.test(node.members.get("type")?.text ?? ""),
      ),
    hint: "httpRequest is `http.request`, set is `transform`, if is `condition`, switch is `switch`, splitInBatches is `map`, executeCommand is `shell.exec`, a trigger is a `schedule` or a webhook of the server; `$json.x` is read as `node.body.x` or `node.value.x`",
  },
  {
    name: "a workflow of GitHub Actions",
    is: (members, document, isType) =>
      has(members, "jobs") && !has(members, "nodes") && jobOfFlow(document, isType) === undefined,
    hint: "a step with `run` is `shell.exec`, `needs` is an edge `a -> b`, `if` is the policy `@when`, `strategy.matrix` is a `map`, `on.schedule` is a `schedule`, `on.workflow_dispatch.inputs` are inputs; `steps.a.outputs.x` is read as `a.x`",
  },
  {
    name: "a state machine of Step Functions",
    is: (members) => has(members, "StartAt", "States"),
    hint: "a Task is `http.request` or `service.call`, Pass is `transform`, Choice is `condition` or `switch`, Map is `map`, Wait is `delay`, Fail is `fail`; Next is an edge `a -> b`, Retry is `@retry`, Catch is an edge from the port `error`; branches of Parallel are nodes without an edge between them",
  },
  {
    name: "a workflow of Argo",
    is: (members) => /^argoproj\.io\//.test(members.get("apiVersion")?.text ?? ""),
    hint: "a container is `shell.exec`, `dependencies` are edges `a -> b`, `withItems` is a `map`, `when` is the policy `@when`, parameters are inputs",
  },
  {
    name: "a flow of Node-RED",
    is: (_, { elements }) => elements.some(({ members }) => has(members, "id", "type", "wires")),
    hint: "`http request` is `http.request`, change is `transform`, switch is `condition` or `switch`, inject is a `schedule`, exec is `shell.exec`; `wires` are edges `a -> b`",
  },
];

/** The tool that a document is of; undefined for one that may be a flow. */
export function toolOf(document: Part, isType: IsType): OtherTool | undefined {
  const { members } = document;
  return TOOLS.find((tool) => tool.is(members, document, isType));
}

/** The one job of a workflow of GitHub whose steps are all of types that flows have: a flow in other words. */
export function jobOfFlow(document: Part, isType: IsType): Part | undefined {
  const [job, ...others] = [...(document.members.get("jobs")?.members.values() ?? [])];
  const steps = job?.members.get("steps")?.elements ?? [];
  const isFlow =
    others.length === 0 &&
    steps.length > 0 &&
    steps.every((step) => isType(step.members.get("uses")?.text ?? ""));
  return isFlow ? job : undefined;
}
