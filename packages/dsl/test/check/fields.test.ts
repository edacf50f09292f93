/** Node types and their fields. */
import { expect, test } from "vitest";
import { catalogOf, variant } from "../fixtures/catalog.ts";
import { codes, mended, report } from "./check.ts";

test("an unknown time zone is named", () => {
  const text = `
schedule a {
  cron = "0 7 * * 1-5"
  timezone = "Europe/Pariss"
}
`;

  expect(
    report(text, "FLOW3008", catalogOf([], { timeZones: ["Europe/Berlin", "Europe/Paris"] })),
  ).toMatchInlineSnapshot(`
    "error: unknown time zone
    at 6:14 to 6:29 "\\"Europe/Pariss\\""
    place /schedules/0/timezone
    hint: did you mean Europe/Paris?
    fix: write Europe/Paris"
  `);

  expect(
    mended(text, "FLOW3008", catalogOf([], { timeZones: ["Europe/Berlin", "Europe/Paris"] })),
  ).toMatchInlineSnapshot(`
    "
    schedule a {
      cron = "0 7 * * 1-5"
      timezone = "Europe/Paris"
    }
    "
  `);
});

test("a deprecated type says what to use", () => {
  const text = `
node a: log { message = "late" }
`;

  expect(
    report(text, "FLOW3009", catalogOf([variant("log", { version: 2, deprecated: "use `note`" })])),
  ).toMatchInlineSnapshot(`
    "warning: node type log is deprecated: use \`note\`
    at 4:9 to 4:12 "log"
    place /nodes/0/type"
  `);
});

test("a version that is not there is named with those that are", () => {
  const text = `
node a: log@9 {
  message = "late"
}
`;

  expect(
    report(text, "FLOW3010", catalogOf([variant("log", { version: 2, deprecated: "use `note`" })])),
  ).toMatchInlineSnapshot(`
    "error: log has no version 9
    at 4:12 to 4:14 "@9"
    place /nodes/0/typeVersion
    hint: versions: 1, 2"
  `);
});

test("a default for failures is like the output that it stands for, as far as it goes", () => {
  const text = (value: string): string => `
node a: http.request {
  url = "https://shop.example"
  @on-error = { default: ${value} }
}
`;

  expect(codes(text("{ status: 404, body: null }"))).toEqual([]);
  expect(report(text('{ status: "none" }'), "FLOW3004")).toMatchInlineSnapshot(`
    "error: the default.status must be int, found string
    at 6:36 to 6:42 "\\"none\\""
    place /nodes/0/policy/onError/default/status"
  `);
  expect(codes(text("{ statsu: 404 }"))).toEqual(["FLOW3003"]);
});

test("what labels are needed for is not reported beside a misspelt `labels`", () => {
  const text = `
node a: ai {
  input = "x"
  lables = [{ name: "a" }, { name: "b" }]
  fallbackLabel = "a"
}
`;
  expect(codes(text)).toEqual(["FLOW3003"]);
  expect(codes(text.replace("lables", "extra"))).toEqual(["FLOW3003", "FLOW3015"]);
});

test("the text of what may be null is no slip in the input of a model", () => {
  const text = (field: string): string =>
    `input call: object\ninput n: int\n\nnode a: ai {\n  input = ${field}\n}\n`;
  expect(codes(text('"${inputs.call.issue.body}"'))).not.toContain("FLOW5008");
  expect(codes(text('"${inputs.n}"'))).toContain("FLOW5008");
});
