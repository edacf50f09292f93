// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Holes as other tools write them, in texts: each is named, with what to write. */
import { expect, test } from "vitest";
import { findings } from "./check.ts";

const FLOW = (text: string): string => `input n: string = "x"
node a: transform { value = "v" }
node l: log { message = ${JSON.stringify(text)} }
output used: any = [inputs.n, a.value]`;

const told = (text: string): string[] =>
  findings(FLOW(text))
    .filter(({ code }) => code === "FLOW5012")
    .map(({ message, hint, fixes }) => `${message}: ${hint}${fixes === undefined ? "" : " (fix)"}`);

test.each([
  ["{{n}}", "`{{n}}` is plain text here: a value in text is written `${inputs.n}` (fix)"],
  [
    "{{ inputs.n }}",
    "`{{ inputs.n }}` is plain text here: a value in text is written `${inputs.n}` (fix)",
  ],
  [
    "{{a.value | upper}}",
    "`{{a.value | upper}}` is plain text here: a value in text is written `${a.value}`",
  ],
  [
    "{{ $json.name }}",
    "`{{ $json.name }}` is plain text here: read a step by its id, such as `a.value`",
  ],
  [
    "{{ steps.a.outputs }}",
    "`{{ steps.a.outputs }}` is plain text here: read a step by its id, such as `a.value`",
  ],
])("%s in a text", (text, expected) => {
  expect(told(`A ${text} B`)).toEqual([expected]);
});

test("a key of an environment in a text is answered with connections", () => {
  expect(told("{{ env.KEY }}")).toEqual([expect.stringContaining("a flow holds no secret")]);
});

test.each([
  "{{mustache}}",
  "{{ person.name }}",
  "{id} {a} $HOME $5",
  "{{#each people}}",
  "{{ a || }}",
])("%s in a text is left alone", (text) => {
  expect(told(text)).toEqual([]);
});

test("an object in a hole stays one, a hole of GitHub is read as the hole that it means", () => {
  const codes = (text: string): string[] =>
    findings(FLOW("").replace('""', text)).map(({ code }) => code);
  expect(codes('"${{ a: 1 }.a} ${{"b": 2}.b}"')).toEqual([]);
  expect(codes('"${{ inputs.n }} ${{a.value}}"')).toEqual(["FLOW1101", "FLOW1101"]);
});
