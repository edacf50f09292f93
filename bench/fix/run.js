// Counts how many flows with the slips of models `millrace validate --fix` mends, and names the rules that are not mended.
// Usage: node run.js [--quick | --smoke] [--seeds <n>] [--show <rule>]…   Exits 1 when less than the bar ends in the graph of its reference.
import { parseArgs } from "node:util";
import { judge, note, report, table } from "../report.js";
import { sized, smoke } from "../size.js";
import { BAR, measure, measureRules, shares } from "./measure.js";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    smoke: { type: "boolean" },
    seeds: { type: "string" },
    show: { type: "string", multiple: true },
  },
});
const seeds = values.seeds ?? (values.quick ? 5 : sized(20, 1));
const percent = (share) => `${(100 * share).toFixed(1)} %`;

const rows = await measure(Number(seeds));
const { same, valid, invalid } = shares(rows);
const rules = (await measureRules()).map((rule) => ({ ...rule, ...shares(rule.samples) }));
const bad = rules.filter((rule) => rule.same < 1).sort((a, b) => a.same - b.same);
for (const { name, samples } of rules.filter(({ name }) => values.show?.includes(name)))
  for (const { wrong, fixed } of samples.filter(({ end }) => end !== "same").slice(0, 2)) {
    const found = fixed.diagnostics.map(({ code, message, range }) =>
      [code, range?.start.line, message].join(" "),
    );
    note(`${name}\n\n${wrong}\nmended:\n\n${fixed.text}\n${found.join("\n")}\n`);
  }

if (smoke) judge([]);
else
  report({
    base: import.meta.url,
    how: `${rows.length} texts of 60 tasks with one to four slips each, seeded, of ${rules.length} rules; below, each rule alone.`,
    lines: [
      table(
        ["texts", "the graph of the reference", "another valid graph", "still invalid"],
        [["all", percent(same), percent(valid), percent(invalid)]],
      ),
      table(
        ["rule that is not always mended", "family", "the graph", "another", "invalid"],
        bad.map((rule) => [
          rule.name,
          rule.family,
          percent(rule.same),
          percent(rule.valid),
          percent(rule.invalid),
        ]),
        2,
      ),
    ],
    results: [{ same, valid, invalid }, ...rules.map(({ samples: _, ...rule }) => rule)],
    past: same < BAR ? [`${percent(same)} mended, bar ${percent(BAR)}`] : [],
  });
