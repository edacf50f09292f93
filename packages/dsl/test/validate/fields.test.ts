/** Node types and their fields. */
import { expect, test } from "vitest";
import { catalogOf, variant } from "../fixtures/catalog.ts";
import { codes, mended, report } from "./check.ts";

test("an unknown node type is named, and the fix writes the near one", () => {
  const text = `
node a: transfrom {
  value = 1
}
`;

  expect(report(text, "FLOW3001")).toMatchInlineSnapshot(`
    "error: unknown node type transfrom
    at 4:9 to 4:18 "transfrom"
    place /nodes/0/type
    hint: did you mean transform? or install the extension that brings it
    fix: write transform"
  `);

  expect(mended(text, "FLOW3001")).toMatchInlineSnapshot(`
    "
    node a: transform {
      value = 1
    }
    "
  `);
});

test("an unknown node type that is like no other says where types come from", () => {
  const text = `
node a: acme.rocket {
  fuel = 1
}
`;

  expect(report(text, "FLOW3001")).toMatchInlineSnapshot(`
    "error: unknown node type acme.rocket
    at 4:9 to 4:20 "acme.rocket"
    place /nodes/0/type
    hint: install the extension that brings it"
  `);
});

test("the fields of an unknown type are not checked", () => {
  const text = `
node a: acme.rocket {
  fuel = 1
}
`;

  expect(codes(text)).not.toContain("FLOW3003");
});

test("a missing field is named, and the fix opens a block for it", () => {
  const text = `
node a: log
`;

  expect(report(text, "FLOW3002")).toMatchInlineSnapshot(`
    "error: log needs the field message
    at 4:1 to 4:12 "node a: log"
    place /nodes/0
    fix: add message = """
  `);

  expect(mended(text, "FLOW3002")).toMatchInlineSnapshot(`
    "
    node a: log {
      message = ""
    }
    "
  `);
});

test("a missing field goes into the block that is there", () => {
  const text = `
node a: log {
  level = "warn"
}
`;

  expect(report(text, "FLOW3002")).toMatchInlineSnapshot(`
    "error: log needs the field message
    at 4:1 to 6:2 "node a: log {"
    place /nodes/0
    fix: add message = """
  `);

  expect(mended(text, "FLOW3002")).toMatchInlineSnapshot(`
    "
    node a: log {
      message = ""
      level = "warn"
    }
    "
  `);
});

test("a delay needs one of its two fields", () => {
  const text = `
node a: delay
`;

  expect(report(text, "FLOW3002")).toMatchInlineSnapshot(`
    "error: delay needs the field for or until
    at 4:1 to 4:14 "node a: delay"
    place /nodes/0"
  `);
});

test("an unknown field is named, and the fix writes the near one", () => {
  const text = `
node a: log {
  mesage = "late"
  message = "late"
}
`;

  expect(report(text, "FLOW3003")).toMatchInlineSnapshot(`
    "error: log has no field mesage
    at 5:3 to 5:9 "mesage"
    place /nodes/0/fields/mesage
    hint: did you mean message?
    fix: write message"
  `);
});

test("a misspelt field is mended", () => {
  const text = `
node a: log {
  message = "late"
  levle = "warn"
}
`;

  expect(report(text, "FLOW3003")).toMatchInlineSnapshot(`
    "error: log has no field levle
    at 6:3 to 6:8 "levle"
    place /nodes/0/fields/levle
    hint: did you mean level?
    fix: write level"
  `);

  expect(mended(text, "FLOW3003")).toMatchInlineSnapshot(`
    "
    node a: log {
      message = "late"
      level = "warn"
    }
    "
  `);
});

test("a literal of another type is named", () => {
  const text = `
node a: log {
  message = 5
}
`;

  expect(report(text, "FLOW3004")).toMatchInlineSnapshot(`
    "error: message must be string, found number
    at 5:13 to 5:14 "5"
    place /nodes/0/fields/message"
  `);
});

test("a literal deep inside a field is named by its path", () => {
  const text = `
node a: http.request {
  url = "https://shop.example"
  headers = { Accept: 1, Via: run.id }
}
`;

  expect(report(text, "FLOW3004")).toMatchInlineSnapshot(`
    "error: headers.Accept must be string, found number
    at 6:23 to 6:24 "1"
    place /nodes/0/fields/headers/Accept"
  `);
});

test("a literal out of range is named", () => {
  const text = `
node a: loop {
  max = 10001
  body {
    output = state
  }
}
`;

  expect(report(text, "FLOW3005")).toMatchInlineSnapshot(`
    "error: max must be at most 10000
    at 5:9 to 5:14 "10001"
    place /nodes/0/fields/max"
  `);
});

test("a duration out of range is named", () => {
  const text = `
node a: delay {
  for = 400d
}
`;

  expect(report(text, "FLOW3005")).toMatchInlineSnapshot(`
    "error: for must be at most 31622400000
    at 5:9 to 5:13 "400d"
    place /nodes/0/fields/for"
  `);
});

test("a literal that breaks a pattern is named", () => {
  const text = `
node a: fail {
  message = "no"
  code = "Not Found"
}
`;

  expect(report(text, "FLOW3005")).toMatchInlineSnapshot(`
    "error: code must match ^[a-z][a-z0-9_]{0,63}$
    at 6:10 to 6:21 "\\"Not Found\\""
    place /nodes/0/fields/code"
  `);
});

test("a case cannot be named like a port that means something else", () => {
  const text = `
node a: switch {
  on = 1
  cases = { default: 1, error: 2 }
}
`;

  expect(report(text, "FLOW3005")).toMatchInlineSnapshot(`
    "error: cases must not name the port default, which has a meaning of its own
    at 6:22 to 6:23 "1"
    place /nodes/0/fields/cases/default
    error: cases must not name the port error, which has a meaning of its own
    at 6:32 to 6:33 "2"
    place /nodes/0/fields/cases/error"
  `);
});

test("a literal that is not among the choices is named, and the fix writes the near one", () => {
  const text = `
node a: log {
  message = "late"
  level = "wran"
}
`;

  expect(report(text, "FLOW3006")).toMatchInlineSnapshot(`
    "error: level must be one of debug, info, warn, error, found "wran"
    at 6:11 to 6:17 "\\"wran\\""
    place /nodes/0/fields/level
    hint: did you mean warn?
    fix: write "warn""
  `);

  expect(mended(text, "FLOW3006")).toMatchInlineSnapshot(`
    "
    node a: log {
      message = "late"
      level = "warn"
    }
    "
  `);
});

test("a schema that is none is named with the place in it", () => {
  const text = `
node a: confirm {
  prompt = "Go on?"
  schema = { type: "object", properties: { n: { minimum: "1" } } }
}
`;

  expect(report(text, "FLOW3007")).toMatchInlineSnapshot(`
    "error: not a JSON Schema (2020-12): /properties/n/minimum: must be a number
    at 6:58 to 6:61 "\\"1\\""
    place /nodes/0/fields/schema/properties/n/minimum"
  `);
});

test("an assertion that is not supported is refused, not ignored", () => {
  const text = `
input a {
  schema = { type: "object", minProperties: 1 }
}
`;

  expect(report(text, "FLOW3007")).toMatchInlineSnapshot(`
    "error: not a JSON Schema (2020-12): /minProperties: \`minProperties\` is not supported
    at 5:45 to 5:46 "1"
    place /inputs/0/schema/minProperties"
  `);
});

test("a pattern that needs backtracking is refused", () => {
  const text = `
input a {
  schema = { type: "string", pattern: "^(?=a)" }
}
`;

  expect(report(text, "FLOW3007")).toMatchInlineSnapshot(`
    "error: not a JSON Schema (2020-12): /pattern: pattern is refused: no lookahead
    at 5:39 to 5:47 "\\"^(?=a)\\""
    place /inputs/0/schema/pattern"
  `);
});

test("a cron expression out of range is named", () => {
  const text = `
schedule a {
  cron = "0 25 * * *"
}
`;

  expect(report(text, "FLOW3008")).toMatchInlineSnapshot(`
    "error: not a cron expression
    at 5:10 to 5:22 "\\"0 25 * * *\\""
    place /schedules/0/cron
    hint: hour is 0 to 23"
  `);
});

test("a day that no month has is named", () => {
  const text = `
schedule a {
  cron = "0 0 31 2 *"
}
`;

  expect(report(text, "FLOW3008")).toMatchInlineSnapshot(`
    "error: not a cron expression
    at 5:10 to 5:22 "\\"0 0 31 2 *\\""
    place /schedules/0/cron
    hint: no month has that day"
  `);
});

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

test("a schedule at a time without a zone is named", () => {
  const text = `
schedule a {
  at = "2030-01-31T07:00:00"
}
`;

  expect(report(text, "FLOW3008")).toMatchInlineSnapshot(`
    "error: not a date
    at 5:8 to 5:29 "\\"2030-01-31T07:00:00\\""
    place /schedules/0/at
    hint: 2030-01-31T07:00:00Z"
  `);
});

test("cron expressions of five and six fields with names, steps and lists are fine", () => {
  const text = `
schedule a {
  cron = "*/5 0-6,22 1 jan-MAR,12 mon-fri"
}

schedule b {
  cron = "0 0 7 L * 5#2"
}
`;

  expect(codes(text)).not.toContain("FLOW3008");
});

test("a deprecated type says what to use", () => {
  const text = `
node a: log {
  message = "late"
}
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

test("a default that breaks the type of its input is named", () => {
  const text = `
input a: { n: int }[] = [{ n: 1 }, { n: "2" }]

output x = inputs.a
`;

  expect(report(text, "FLOW3011")).toMatchInlineSnapshot(`
    "error: default of input a does not satisfy its type: /1/n must be int, found string
    at 4:41 to 4:44 "\\"2\\""
    place /inputs/0/default/1/n"
  `);
});

test("a default that is no date is named", () => {
  const text = `
input day: date = "2026-02-30"

output x = inputs.day
`;

  expect(report(text, "FLOW3011")).toMatchInlineSnapshot(`
    "error: default of input day does not satisfy its type: must be a date
    at 4:19 to 4:31 "\\"2026-02-30\\""
    place /inputs/0/default"
  `);
});

test("a literal field with an expression is named", () => {
  const text = `
input n: int

node a: loop {
  max = inputs.n
  body {
    output = state
  }
}
`;

  expect(report(text, "FLOW3013")).toMatchInlineSnapshot(`
    "error: max must be a literal, not an expression
    at 7:9 to 7:17 "inputs.n"
    place /nodes/0/fields/max
    hint: ports, policies, meta and layout are read before the run"
  `);
});

test("fields that exclude each other are named", () => {
  const text = `
node a: delay {
  for = 5s
  until = "2030-01-01T00:00:00Z"
}
`;

  expect(report(text, "FLOW3016")).toMatchInlineSnapshot(`
    "error: for and until cannot be used together
    at 6:11 to 6:33 "\\"2030-01-01T00:00:00Z\\""
    place /nodes/0/fields/until"
  `);
});

test("a type that needs a body says so", () => {
  const text = `
node a: map {
  items = [1, 2]
}
`;

  expect(report(text, "FLOW3017")).toMatchInlineSnapshot(`
    "error: map needs a body
    at 4:1 to 6:2 "node a: map {"
    place /nodes/0"
  `);
});

test("a type that takes no body says so", () => {
  const text = `
node a: log {
  message = "late"
  body {
    output = 1
  }
}
`;

  expect(report(text, "FLOW3017")).toMatchInlineSnapshot(`
    "error: log takes no body
    at 6:3 to 8:4 "body {"
    place /nodes/0/body"
  `);
});

test("a cache in front of a write is named", () => {
  const text = `
node a: http.request {
  url = "https://shop.example"
  method = "POST"
  @cache = { ttl: 1h }
}
`;

  expect(report(text, "FLOW3018")).toMatchInlineSnapshot(`
    "warning: @cache on a node whose effect is \`write\`: a hit skips the effect
    at 7:12 to 7:23 "{ ttl: 1h }"
    place /nodes/0/policy/cache"
  `);
});

test("a cache in front of a read is fine", () => {
  const text = `
node a: http.request {
  url = "https://shop.example"
  @cache = { ttl: 1h }
}
`;

  expect(codes(text)).not.toContain("FLOW3018");
});

test("a policy out of range is named as it is written", () => {
  const text = `
node a: join {
  @retry = { max: 21 }
}
`;

  expect(report(text, "FLOW3005")).toMatchInlineSnapshot(`
    "error: @retry.max must be at most 20
    at 5:19 to 5:21 "21"
    place /nodes/0/policy/retry/max"
  `);
});

test("a policy with an unknown word is named", () => {
  const text = `
node a: join {
  @on-error = "collect"
}
`;

  expect(report(text, "FLOW3006")).toMatchInlineSnapshot(`
    "error: @on-error must be one of fail, port, { default: … }, found "collect"
    at 5:15 to 5:24 "\\"collect\\""
    place /nodes/0/policy/onError
    hint: \`collect\` is for \`map\`"
  `);
});
