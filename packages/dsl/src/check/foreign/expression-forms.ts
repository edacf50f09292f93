/** How other languages write expressions, one a line. */

import type { Form } from "./edits.ts";

/** Whether what follows `head` stands in no text: every quote in it is closed. */
const isCode = (head = ""): boolean => head.replace(/\\./g, "").split('"').length % 2 === 1;

export const EXPRESSION_FORMS: readonly Form[] = [
  {
    pattern: /^(.*[^|])\|\|\s*("[^"]*"|\d+|\[\]|\{\})(.*)$/,
    says: "a default is written `a ?? b`",
    wins: true,
    rewrite: ([, head, value, rest]) =>
      isCode(head) && /^\s*(?:$|[)\]},:])/.test(rest ?? "")
        ? `${head}?? ${value}${rest}`
        : undefined,
  },
  {
    pattern: /^(.*?[:=]\s*)if\b\s*(.+?)\s+then\s+(.+?)(?:\s+else\s+(.+))?$/,
    says: "a choice is written `c ? a : b`",
    wins: true,
    rewrite: ([, head, test, yes, no = "null"]) =>
      [head, test, yes].every(isCode) ? `${head}${test} ? ${yes} : ${no}` : undefined,
  },
  {
    pattern: /^(.*[^\w.])new Date\(([^()]*)\)(?:\.toISOString\(\))?((?!\.).*)$/,
    says: "a time is an ISO 8601 text: `now()`, `date(x)`",
    wins: true,
    rewrite: ([, head, at = "", rest]) =>
      isCode(head) ? `${head}${at.trim() === "" ? "now()" : `date(${at})`}${rest}` : undefined,
  },
  {
    pattern: /^((?:(?:in|out)put\s[^=]*=|.*?[:=])\s*)(?!if\b)(\S.*?)\s+if\s+(.+?)\s+else\s+(.+)$/,
    says: "a choice is written `c ? a : b`",
    wins: true,
    rewrite: ([, head, yes, test, no]) =>
      [head, yes, test].every(isCode) ? `${head}${test} ? ${yes} : ${no}` : undefined,
  },
  {
    pattern: /^(.*)\bis\s+(not\s+)?(?:null|None|nil|undefined)\b(.*)$/,
    says: "compare with `==` or `!=`",
    rewrite: ([, head, not, rest]) =>
      isCode(head) ? `${head}${not ? "!=" : "=="} null${rest}` : undefined,
  },
  {
    pattern: /^(.*[^\w"])f("[^"\\]*")(.*)$/,
    says: "every string may hold `${…}`",
    rewrite: ([, head, text = "", rest]) =>
      isCode(head) ? `${head}${text.replace(/(?<!\$)\{/g, "${")}${rest}` : undefined,
  },
  {
    pattern: /^(.*\d)\s+(milliseconds?|seconds?|minutes?|hours?|days?)\b(.*)$/,
    says: "a duration is written `5s`",
    wins: true,
    rewrite: ([, head, unit = "", rest]) =>
      isCode(head) ? `${head}${unit.startsWith("milli") ? "ms" : unit[0]}${rest}` : undefined,
  },
];
