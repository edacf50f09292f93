/** Links in a text: flows of the project, and addresses of the web. */

import type { Json } from "@millrace/contracts/json";
import { sitesOfNode } from "../check/model/sites.ts";
import { literalText } from "../check/model/walk-value.ts";
import { isFlowField, slugOf } from "../check/rules/calls.ts";
import { listOrNone, own } from "../data.ts";
import type { Reading } from "./reading.ts";
import type { Link } from "./types.ts";

/** An address that a browser opens as it stands. */
const ADDRESS = /^https:\/\/[^\s\p{Cc}\p{Cf}]+$/u;

/** The flows that nodes and tools name, where their files are known, and the `https:` addresses in fields named `url`; by offset. */
export function linksOf(reading: Reading): readonly Link[] {
  const links: Link[] = [];
  const add = (pointer: string, target: string | undefined): void => {
    const span = target === undefined ? undefined : reading.span(pointer);
    if (target !== undefined && span) links.push({ start: span.start, end: span.end, target });
  };
  const flow = (pointer: string, text: string | undefined): void => {
    if (text !== undefined) add(pointer, reading.project.flowUri?.(slugOf(text)));
  };
  for (const node of reading.model.nodes) {
    for (const site of sitesOfNode(node)) {
      if (isFlowField(site)) flow(site.pointer, literalText(site.value));
    }
    listOrNone(own(node.node.fields, "tools")).forEach((tool, at) => {
      const pointer = `${node.pointer}/fields/tools/${at}`;
      const ref = textOf(own(tool, "ref"));
      flow(pointer, flowOf(textOf(tool)));
      flow(`${pointer}/ref`, flowOf(ref));
    });
    const url = textOf(own(node.node.fields, "url"));
    if (url !== undefined && ADDRESS.test(url)) add(`${node.pointer}/fields/url`, url);
  }
  return links.sort((a, b) => a.start - b.start);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The flow that the reference of a tool names. */
function flowOf(ref: string | undefined): string | undefined {
  return ref?.startsWith("flow:") ? ref.slice("flow:".length) : undefined;
}
