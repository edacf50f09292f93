/** What expressions read, and of which types. */
import { expect, test } from "vitest";
import { codes, mended, report } from "./check.ts";

test("an unknown name is named at its place in the text, and the fix writes the near one", () => {
  const text = `
node fetch: transform {
  value = 1
}
node a: log {
  message = "got \${  fetsh.value  } rows"
}
`;

  expect(report(text, "FLOW5001")).toMatchInlineSnapshot(`
    "error: unknown name fetsh
    at 8:22 to 8:27 "fetsh"
    place /nodes/1/fields/message/$t/1
    hint: did you mean fetch?
    fix: did you mean fetch"
  `);

  expect(mended(text, "FLOW5001")).toMatchInlineSnapshot(`
    "
    node fetch: transform {
      value = 1
    }
    node a: log {
      message = "got \${  fetch.value  } rows"
    }
    "
  `);
});

test("an unknown member of a record is named", () => {
  const text = `
node a: transform {
  value = 1
}

output x = a.valeu
`;

  expect(report(text, "FLOW5001")).toMatchInlineSnapshot(`
    "error: object has no member valeu
    at 8:12 to 8:19 "a.valeu"
    place /outputs/0/value
    hint: did you mean value?"
  `);
});

test("an id that no visible node bears is unknown in `nodes`, too", () => {
  const text = `
output x = nodes["constructor"]
`;

  expect(report(text, "FLOW5001")).toMatchInlineSnapshot(`
    "error: unknown name constructor
    at 4:12 to 4:32 "nodes[\\"constructor\\"]"
    place /outputs/0/value"
  `);
});

test("an unknown input is named", () => {
  const text = `
input region: string

output x = inputs.regoin
output y = inputs.region
`;

  expect(report(text, "FLOW5001")).toMatchInlineSnapshot(`
    "error: object has no member regoin
    at 6:12 to 6:25 "inputs.regoin"
    place /outputs/0/value
    hint: did you mean region?"
  `);
});

test("operands of other types are named", () => {
  const text = `
output x = 1 + "1"
`;

  expect(report(text, "FLOW5002")).toMatchInlineSnapshot(`
    "error: \`+\` takes two numbers, two strings or two lists, found int and string
    at 4:12 to 4:19 "1 + \\"1\\""
    place /outputs/0/value"
  `);
});

test("a method call is mended", () => {
  const text = `
input l: int[]

output x = inputs.l.size()
`;

  expect(report(text, "FLOW5003")).toMatchInlineSnapshot(`
    "error: functions are called as \`f(x)\`
    at 6:12 to 6:27 "inputs.l.size()"
    fix: write size(…)"
  `);

  expect(mended(text, "FLOW5003")).toMatchInlineSnapshot(`
    "
    input l: int[]

    output x = size(inputs.l)
    "
  `);
});

test("a wrong number of arguments is named with the signature", () => {
  const text = `
output x = size([1], 2)
`;

  expect(report(text, "FLOW5004")).toMatchInlineSnapshot(`
    "error: size takes 1 arguments, found 2: size(string|list|object) int
    at 4:12 to 4:24 "size([1], 2)"
    place /outputs/0/value"
  `);
});

test("a condition that is no condition is named", () => {
  const text = `
input n: int

node a: condition {
  if = inputs.n
}
`;

  expect(report(text, "FLOW5005")).toMatchInlineSnapshot(`
    "error: if must be true or false, found int
    at 7:8 to 7:16 "inputs.n"
    place /nodes/0/fields/if"
  `);
});

test("a guard that is no condition is named", () => {
  const text = `
input n: int

node a: join {
  @when = inputs.n
}
`;

  expect(report(text, "FLOW5005")).toMatchInlineSnapshot(`
    "error: @when must be true or false, found int
    at 7:11 to 7:19 "inputs.n"
    place /nodes/0/policy/when"
  `);
});

test("a value that may be null where null is refused is named", () => {
  const text = `
input text: string?

node a: log {
  message = inputs.text
}
`;

  expect(report(text, "FLOW5006")).toMatchInlineSnapshot(`
    "warning: inputs.text may be null here
    at 7:13 to 7:24 "inputs.text"
    place /nodes/0/fields/message
    hint: use \`?.\` or \`?? …\`"
  `);
});

test("an optional read may be null", () => {
  const text = `
node a: transform {
  value = 1
}
node b: log {
  message = a?.value ?? "none"
}
node ask: confirm {
  prompt = "Go?"
}
node c: log {
  message = ask.by
}

ask.approved -> c
ask.rejected -> b
`;

  expect(report(text, "FLOW5006")).toMatchInlineSnapshot(`
    "warning: ask.by may be null here
    at 14:13 to 14:19 "ask.by"
    place /nodes/3/fields/message
    hint: use \`?.\` or \`?? …\`"
  `);
});

test("work beyond the budget is named", () => {
  const text = `
output x = range(1000000)
`;

  expect(report(text, "FLOW5007")).toMatchInlineSnapshot(`
    "error: this expression is sure to exceed the budget: range gives at most 10000 numbers, not 1000000
    at 4:12 to 4:26 "range(1000000)"
    place /outputs/0/value"
  `);
});

test("text that is one hole is named, and the fix takes the quotes away", () => {
  const text = `
input n: int

node a: transform {
  value = "\${inputs.n}"
}
`;

  expect(report(text, "FLOW5008")).toMatchInlineSnapshot(`
    "warning: \`"\${inputs.n}"\` is always a string
    at 7:11 to 7:24 "\\"\${inputs.n}\\""
    place /nodes/0/fields/value
    fix: write inputs.n"
  `);

  expect(mended(text, "FLOW5008")).toMatchInlineSnapshot(`
    "
    input n: int

    node a: transform {
      value = inputs.n
    }
    "
  `);
});

test("a macro without a variable is named", () => {
  const text = `
output x = map([1], 2, 3)
`;

  expect(report(text, "FLOW5009")).toMatchInlineSnapshot(`
    "error: the second argument of map must be a new name
    at 4:21 to 4:22 "2"
    place /outputs/0/value"
  `);
});

test("a comparison of disjoint types is named", () => {
  const text = `
input n: int

output x = inputs.n == "1"
`;

  expect(report(text, "FLOW5010")).toMatchInlineSnapshot(`
    "warning: comparing int with "1" is always false
    at 6:12 to 6:27 "inputs.n == \\"1\\""
    place /outputs/0/value"
  `);
});

test("a condition that is always the same is named", () => {
  const text = `
node a: condition {
  if = size("abc") > 2
}
node b: join {
  @when = false
}
`;

  expect(report(text, "FLOW5011")).toMatchInlineSnapshot(`
    "warning: condition is always true
    at 5:8 to 5:23 "size(\\"abc\\") > 2"
    place /nodes/0/fields/if
    warning: condition is always false
    at 8:11 to 8:16 "false"
    place /nodes/1/policy/when"
  `);
});

test("the element of a typed list has its type in the body", () => {
  const text = `
input rows: { name: string, size: int }[]

node all: map {
  items = inputs.rows
  as = "row"
  body {
    node say: log {
      message = row.size
    }
  }
}
`;
  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: message takes string, row.size is int
    at 11:17 to 11:25 "row.size"
    place /nodes/0/body/nodes/0/fields/message"
  `);
});

test("deferred roots are known in their field only", () => {
  const text = `
node a: ai {
  input = "x"
  expect = [size(text) > 0, finish == "stop"]
}
node b: transform {
  value = finish
}
`;

  expect(report(text, "FLOW5001")).toMatchInlineSnapshot(`
    "error: unknown name finish
    at 9:11 to 9:17 "finish"
    place /nodes/1/fields/value"
  `);
});

test("what a call of a tool brings is known in its confirm", () => {
  const text = `
node a: ai {
  input = "x"
  tools = [{ ref: "action:file.write", confirm: args.path != "a" }]
}
`;

  expect(codes(text)).not.toContain("FLOW5001");
});

test("a loop reads its state under its own name", () => {
  const text = `
node poll: loop {
  as = "job"
  until = job.done == true
  max = 3
  body {
    output = { done: job == null || index > 1 }
  }
}
`;

  expect(codes(text)).not.toContain("FLOW5001");
});
