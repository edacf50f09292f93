/** The page of the language for models: complete, short enough, and every flow on it is what the page says. */
import { checkFlow, formatFlow, listFunctions } from "@millrace/dsl";
import { BLOCK_WORDS, languagePage, POLICY_WORDS } from "@millrace/dsl/explain";
import { createStandardRegistry } from "@millrace/server/registry";
import { fencesOf } from "@millrace/test-support/pages";
import { expect, test } from "vitest";

const registry = createStandardRegistry();
const entries = registry.entries();
const page = languagePage(entries);
const fences = fencesOf(page).map(({ text }) => text);

/** What the mistakes of the page stand in. */
const AROUND = `flow 1 x

input name: string
input n: int
input xs: int[]

node a: http.request {
  url = "https://shop.example"
}

node b: log {
  message = "\${inputs.name} \${inputs.n} \${size(inputs.xs)}"
}

node send: condition {
  if = inputs.n > 0
}

node cut: transform {
  value = 1
}

send.true -> cut

`;

const findings = (text: string): string[] =>
  checkFlow(text, registry.catalog()).diagnostics.map(({ code, message }) => `${code} ${message}`);

/**
 * At least as many tokens as a model counts: words of up to eight letters, three digits, every other sign and every line end,
 * less a tenth. \`o200k_base\` and \`cl100k_base\` count 2 % less on this page and on those of the guide.
 */
const tokens = (text: string): number =>
  Math.ceil((text.match(/[A-Za-z]{1,8}|\d{1,3}|[^\sA-Za-z\d]|\n+/g) ?? []).length * 0.9);

test("the page has every type, function, policy and block, in at most 6,000 tokens", () => {
  for (const { type, fields, serviceIntegration } of entries) {
    if (serviceIntegration !== undefined) continue;
    expect(page).toContain(`\n### ${type}\n`);
    for (const name of Object.keys((fields["properties"] ?? {}) as object))
      expect(page).toMatch(new RegExp(`[\`\\s]${name}\\??: `));
  }
  for (const { signature } of listFunctions()) expect(page).toContain(signature);
  for (const word of Object.keys({ ...BLOCK_WORDS, ...POLICY_WORDS }))
    expect(page).toContain(`- \`${word}\`: `);
  expect(tokens(page)).toBeLessThanOrEqual(6_000);
});

test("every whole flow of the page is canonical and without a finding", () => {
  const whole = fences.filter((text) => /^flow 1 /m.test(text));
  expect(whole).toHaveLength(3);
  for (const text of whole) {
    expect(formatFlow(text).text).toBe(text);
    expect(findings(text)).toEqual([]);
  }
});

test("each of the ten mistakes has a finding, and what should be written has none", () => {
  const mistakes = fences.find((text) => text.includes("# Right:")) ?? "";
  const pairs = mistakes.split(/^# .*Wrong:\n/m).slice(1);
  expect(pairs).toHaveLength(10);
  for (const pair of pairs) {
    const [wrong = "", right = ""] = pair.split("# Right:\n");
    expect(findings(AROUND + wrong), wrong).not.toEqual([]);
    expect(findings(`${AROUND}${right}`), right).toEqual([]);
  }
});
