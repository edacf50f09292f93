// Compiling and evaluating expressions, as data. Every contender gives the same answers for the same eight scopes;
// `prepare` answers a function of the scope's number.
import { compileExpression, compileValue } from "@millrace/dsl";
import { smoke } from "../size.js";

const PREDICATE = 'score > 0.5 && "admin" in user.roles && size(items) == 2';
const TEMPLATE = { $t: ["Order ", { $: "order.id" }, ": ", { $: "order.total" }, " EUR"] };
const MACROS = "map(filter(rows, r, r.n > 50.5), r, r.n * 2.5)";

const scopes = Array.from({ length: 8 }, (_, n) => ({
  score: n / 4 + 0.05,
  user: { roles: n % 3 === 0 ? ["guest", "admin"] : ["admin"] },
  items: n % 4 === 1 ? [1, 2, 3] : [1, 2],
  order: { id: `A-${n}`, total: n + 0.5 },
  rows: Array.from({ length: 100 }, (_, i) => ({ n: ((i * 37 + n) % 100) + 0.25 })),
}));
const roots = scopes.map((scope) => new Map(Object.entries(scope)));
const AT = { nowEpoch: 0 };

const hand = (evaluate) => () => (i) => evaluate(scopes[i & 7]);
const ours = (compiled) => () => (i) => compiled.evaluate(roots[i & 7], AT);

const celJs = (source) => async () => {
  const { parse } = await import("@marcbachmann/cel-js");
  const evaluate = parse(source);
  return (i) => evaluate(scopes[i & 7]);
};
const bufbuild = (source) => async () => {
  const { celEnv, parse, plan } = await import("@bufbuild/cel");
  const evaluate = plan(celEnv(), parse(source));
  return (i) => evaluate(scopes[i & 7]);
};
const jsonata = (source) => async () => {
  const { default: compile } = await import("jsonata");
  const compiled = compile(source);
  return (i) => compiled.evaluate(scopes[i & 7]);
};

const JSONATA_PREDICATE = 'score > 0.5 and "admin" in user.roles and $count(items) = 2';

const compile = {
  // A new text each time, and called once: the engine of JavaScript keeps what it has compiled, and compiles late.
  "by hand": () => (i) =>
    new Function(
      "s",
      `/*${i}*/return s.score > 0.5 && s.user.roles.includes("admin") && s.items.length === 2`,
    )(scopes[0]),
  millrace: () => () => compileExpression(PREDICATE),
  "cel-js": async () => {
    const { parse } = await import("@marcbachmann/cel-js");
    return () => parse(PREDICATE);
  },
  bufbuild: async () => {
    const { celEnv, parse, plan } = await import("@bufbuild/cel");
    const env = celEnv();
    return () => plan(env, parse(PREDICATE));
  },
  jsonata: async () => {
    const { default: compile } = await import("jsonata");
    return () => compile(JSONATA_PREDICATE);
  },
};

const predicate = {
  "by hand": hand((s) => s.score > 0.5 && s.user.roles.includes("admin") && s.items.length === 2),
  // What is left when the values are looked up by name, as every flow must.
  "by hand, same scope": () => (i) => {
    const scope = roots[i & 7];
    return (
      scope.get("score") > 0.5 &&
      scope.get("user").roles.includes("admin") &&
      scope.get("items").length === 2
    );
  },
  millrace: ours(compileExpression(PREDICATE)),
  "cel-js": celJs(PREDICATE),
  bufbuild: bufbuild(PREDICATE),
  jsonata: jsonata(JSONATA_PREDICATE),
};

// The same values by place, for whoever knows the names beforehand.
const slots = scopes.map((scope) => Object.values(scope));
const bySlot = compileExpression(PREDICATE, { roots: Object.keys(scopes[0]) });
const predicateBySlot = {
  "by hand": predicate["by hand"],
  millrace: () => (i) => bySlot.evaluate(slots[i & 7], AT),
};

const CEL_TEMPLATE = '"Order " + order.id + ": " + string(order.total) + " EUR"';
const template = {
  "by hand": hand((s) => `Order ${s.order.id}: ${s.order.total} EUR`),
  millrace: ours(compileValue(TEMPLATE)),
  "cel-js": celJs(CEL_TEMPLATE),
  bufbuild: bufbuild(CEL_TEMPLATE),
  jsonata: jsonata('"Order " & order.id & ": " & order.total & " EUR"'),
};

const CEL_MACROS = "rows.filter(r, r.n > 50.5).map(r, r.n * 2.5)";
const macros = {
  "by hand": hand((s) => s.rows.filter((r) => r.n > 50.5).map((r) => r.n * 2.5)),
  millrace: ours(compileExpression(MACROS)),
  "cel-js": celJs(CEL_MACROS),
  bufbuild: bufbuild(CEL_MACROS),
  jsonata: jsonata("rows[n > 50.5].(n * 2.5)"),
};

/** What `by hand` gives, as text: the lists of the peers are objects of their own. */
const answer = (value) => JSON.stringify(typeof value === "object" ? [...value] : value);
const evaluation = (bars, contenders) => ({
  bars,
  contenders,
  input: contenders["by hand"](),
  same: (value, expected, i) => answer(value) === answer(expected(i)),
});

export const expressionCases = {
  compile: { bars: { workMs: 0.015 }, contenders: compile },
  predicate: evaluation({ "by hand, same scope": 1.5, "cel-js": 0.3, workMs: 0.001 }, predicate),
  "predicate, slots": evaluation({ "by hand": 4 }, predicateBySlot),
  template: { ...evaluation({}, template), long: !smoke }, // without a bar
  "filter, map": { ...evaluation({}, macros), long: !smoke },
};
