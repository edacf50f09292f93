/**
 * Rules between the fields of an `ai` node, its tools and its labels, as data (FLOW3015, 6006).
 */

import { isObject, listOrNone, objectOrNone, own } from "../../data.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { NodeModel } from "../model/bodies.ts";
import { firstExpression, literalText } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import { checkListed } from "./check-value.ts";
import { meantFields } from "./fields.ts";
import { effectOfMethod } from "./node-types.ts";

/** A task with what it needs and what it cannot go with. */
const TASKS: {
  readonly [task: string]: {
    readonly needs?: readonly string[];
    readonly without?: readonly string[];
  };
} = {
  generate: { without: ["labels"] },
  chat: { without: ["labels"] },
  classify: { needs: ["labels"], without: ["outputSchema"] },
  extract: { needs: ["outputSchema"], without: ["labels"] },
  summarize: { without: ["labels"] },
  embed: { without: ["tools", "outputSchema", "labels", "system"] },
  judge: { needs: ["rubric"], without: ["tools", "labels"] },
};

/** Fields that belong to one task, or to another field. */
const BELONGS: { readonly [field: string]: { readonly task?: string; readonly field?: string } } = {
  rubric: { task: "judge" },
  maxWords: { task: "summarize" },
  multi: { field: "labels" },
  fallbackLabel: { field: "labels" },
};

const EMBED_CHECKS: ReadonlySet<unknown> = new Set(["cost", "latencyMs", "expr"]);

const TOOL_REF =
  /^(?:flow:[a-z0-9][\w./@#:-]*|action:[a-z][\w-]*\.[a-z][\w-]*|mcp:[\w.-]+\/[\w./-]+)$/i;

/** Checks a node whose type is of kind `ai`. */
export function checkAi(ctx: Validation, node: NodeModel): void {
  const fields = objectOrNone(node.node.fields);
  const has = (name: string): boolean => {
    const value = own(fields, name);
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  };
  checkTask(ctx, node, has);
  checkProviders(ctx, node);
  checkTools(ctx, node);
  const max = own(own(node.node.policy, "retry"), "max");
  if (has("failover") && typeof max === "number" && max > 0) {
    ctx.report("FLOW3015", `${node.pointer}/policy/retry`, {
      message: `two retry loops multiply: \`@retry\` and failover of ${shown(node.id)}`,
      hint: "keep one",
      severity: "warning",
    });
  }
}

function checkTask(ctx: Validation, node: NodeModel, has: (name: string) => boolean): void {
  const fields = objectOrNone(node.node.fields);
  const written = own(fields, "task");
  if (written !== undefined && typeof written !== "string") return;
  const task = written ?? (has("labels") ? "classify" : "generate");
  const rule = Object.hasOwn(TASKS, task) ? TASKS[task] : undefined;
  if (rule === undefined) return;
  const say = (field: string, problem: string): void => {
    const pointer = has(field) ? `${node.pointer}/fields/${field}` : node.pointer;
    ctx.report("FLOW3015", pointer, { parts: { field, problem } });
  };
  const isMeant = node.entry === undefined ? () => false : meantFields(ctx, node, node.entry);
  const lacks = (field: string): boolean => !has(field) && !isMeant(field);
  for (const field of rule.needs ?? []) {
    const parts = { field: `task ${task}`, problem: `needs ${field}` };
    if (lacks(field)) ctx.report("FLOW3015", node.pointer, { parts });
  }
  for (const field of rule.without ?? []) {
    if (has(field)) say(field, `cannot go with task ${task}`);
  }
  for (const [field, { task: only, field: other }] of Object.entries(BELONGS)) {
    if (!has(field)) continue;
    if (only !== undefined && task !== only) say(field, `needs task ${only}`);
    if (other !== undefined && lacks(other)) say(field, `needs ${other}`);
  }
  const input = own(fields, "input");
  const isWritten = ctx.isReadable(input) && firstExpression(input) === undefined;
  if (task === "chat" && isWritten && own(input, "messages") === undefined) {
    say("input", "needs the form { messages: [...] } with task chat");
  }
  if (task === "embed") checkEmbedExpect(ctx, node);
  checkFallback(ctx, node);
}

function checkEmbedExpect(ctx: Validation, node: NodeModel): void {
  listOrNone(own(node.node.fields, "expect")).forEach((check, at) => {
    const kind = own(check, "kind");
    if (kind === undefined || EMBED_CHECKS.has(kind)) return;
    ctx.report("FLOW3015", `${node.pointer}/fields/expect/${at}`, {
      parts: { field: `expect ${shown(String(kind))}`, problem: "cannot go with task embed" },
    });
  });
}

function checkFallback(ctx: Validation, node: NodeModel): void {
  const fallback = own(node.node.fields, "fallbackLabel");
  const labels = listOrNone(own(node.node.fields, "labels")).map((label) => own(label, "name"));
  if (typeof fallback !== "string" || labels.length === 0 || labels.includes(fallback)) return;
  const names = labels.filter((label): label is string => typeof label === "string");
  checkListed(ctx, "fallbackLabel", fallback, names, `${node.pointer}/fields/fallbackLabel`);
}

/** Every provider that a node names is known, where the catalog knows providers. */
function checkProviders(ctx: Validation, node: NodeModel): void {
  const { providers } = ctx.catalog;
  if (providers === undefined) return;
  const fields = objectOrNone(node.node.fields);
  const check = (holder: unknown, pointer: string): void => {
    const provider = literalText(own(holder, "provider"));
    if (provider === undefined) return;
    checkListed(ctx, "provider", provider, providers, `${pointer}/provider`);
  };
  check(fields, `${node.pointer}/fields`);
  listOrNone(own(fields, "failover")).forEach((each, at) => {
    check(each, `${node.pointer}/fields/failover/${at}`);
  });
}

function checkTools(ctx: Validation, node: NodeModel): void {
  listOrNone(own(node.node.fields, "tools")).forEach((tool, at) => {
    const ref = typeof tool === "string" ? tool : own(tool, "ref");
    if (typeof ref !== "string") return;
    const pointer = `${node.pointer}/fields/tools/${at}`;
    const action = ref.startsWith("action:") ? ref.slice("action:".length) : undefined;
    const entry = action === undefined ? undefined : ctx.catalog.entry(action);
    if (!TOOL_REF.test(ref) || (action !== undefined && entry === undefined)) {
      ctx.report("FLOW3015", isObject(tool) ? `${pointer}/ref` : pointer, {
        message: `ai: unknown tool ${shown(ref)}`,
        hint: "flow:<slug>, action:<adapter>.<action> or mcp:<server>/<tool>",
      });
    }
    // `confirm: false` is written on purpose; only what cannot be taken back is worth a word all the same.
    const method = own(own(tool, "with"), "method");
    const effect = action === "http.request" ? effectOfMethod(method) : entry?.effect;
    if (own(tool, "confirm") !== false || effect !== "destructive") return;
    const place = `${pointer}/confirm`;
    ctx.report("FLOW6006", place, {
      parts: { tool: shown(ref), effect },
      fix: replacing("write true", ctx.map.exact(place), "true"),
    });
  });
}
