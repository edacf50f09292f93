import { withoutPrompts } from "@millrace/ai";
import { expect, test } from "vitest";

const fields = {
  provider: "mock",
  input: "hello",
  system: "be short",
  tools: [{ ref: "flow:one", with: { id: 7 } }, "flow:two"],
};
const hidden = {
  provider: "mock",
  input: "-",
  system: "-",
  tools: [{ ref: "flow:one", with: "-" }, "flow:two"],
};

test.each([
  ["ai", "full", true, false],
  ["ai", "full", false, true],
  ["ai", "redacted", true, true],
  ["ai", "hash", true, true],
  ["ai", "none", true, true],
  ["transform", "none", false, false],
])(
  "of %s with auditContent %s, where content is kept: %s, prompts are hidden: %s",
  (type, auditContent, keepsContent, isHidden) => {
    const given = { ...fields, auditContent };
    const shown = { ...(isHidden ? hidden : fields), auditContent };
    expect(withoutPrompts(type, given, { mark: "-", keepsContent })).toEqual(shown);
  },
);
