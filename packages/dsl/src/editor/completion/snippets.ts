/**
 * Blocks as snippets, in the syntax of the Language Server Protocol: `${1:name}` is a place with its text, `$0` where the cursor ends.
 *   C3  a snippet with the texts of its places adds no syntax error, as any completion (law E3).
 */

import type { BLOCKS } from "../../language/blocks.ts";

/** What each block begins with. */
const SNIPPETS: Readonly<Record<keyof typeof BLOCKS, string>> = {
  flow: "flow 1 ${1:my-flow}\n\n$0",
  input: "input ${1:name}: ${2:string}",
  connection: "connection ${1:name}: ${2:oauth}",
  schedule: 'schedule ${1:name} {\n  cron = "${2:0 7 * * *}"\n  timezone = "${3:UTC}"\n}',
  node: "node ${1:name}: ${2:type} {\n  $0\n}",
  output: "output ${1:name} = ${2:null}",
  layout: "layout {\n  $0\n}",
  body: "body {\n  $0\n}",
};

/** The snippet of a block. */
export function blockSnippet(keyword: keyof typeof BLOCKS): string {
  return SNIPPETS[keyword];
}
