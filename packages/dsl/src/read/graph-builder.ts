/**
 * Text to graph, block by block. What cannot be mapped is reported and left out; everything else is in the graph.
 */

import type { FlowGraph, Json, JsonObject } from "@millrace/contracts";
import { nearestName } from "@millrace/contracts/kit";
import { replacement } from "../diagnostics/bag.ts";
import type { Report } from "../diagnostics/report.ts";
import { BLOCKS, isBlockKeyword } from "../language/blocks.ts";
import type { BlockItem, Item } from "../language/items.ts";
import { isEmptyLayout } from "../write/canonical.ts";
import { type Declaration, mapDeclaration, mapFlow, mapLayout } from "./declarations.ts";
import { mapEdge } from "./edges.ts";
import { type Collected, Level, MappingContext } from "./mapping-context.ts";
import { mapNode } from "./nodes.ts";

/** Makes the graph of a file, item by item. Findings go to the report. */
export class GraphBuilder {
  private readonly context: MappingContext;
  /** The nodes and edges of the file. */
  readonly level: Level;
  private readonly lists: { readonly [list: string]: JsonObject[] };
  private layout: Record<string, Json> = {};
  private header: Partial<FlowGraph> | undefined;
  private hasLayout = false;
  private first: Item | undefined;
  private flow: BlockItem | undefined;

  constructor(source: string, report: Report, collected: Collected) {
    this.context = new MappingContext(source, report, collected);
    this.level = new Level(this.context, "");
    const { nodes, edges } = this.level as unknown as { nodes: JsonObject[]; edges: JsonObject[] };
    this.lists = { inputs: [], nodes, edges, outputs: [], connections: [], schedules: [] };
    collected.marks?.add("", 0, source.length);
  }

  /** Whether the header of the file was read. */
  get hasHeader(): boolean {
    return this.header !== undefined;
  }

  /** Adds a declaration that was read straight, and whose name is claimed. */
  addStrict(keyword: Declaration, declared: JsonObject): void {
    this.lists[`${keyword}s`]?.push(declared);
  }

  /** Takes the places of a layout that was read straight; false when there is a layout. */
  addLayout(places: Record<string, Json>): boolean {
    if (this.hasLayout) return false;
    this.layout = places;
    this.hasLayout = true;
    return true;
  }

  /** Adds the next item of the file. */
  add(item: Item): void {
    this.first ??= item;
    if (item === this.first && isMisspeltFlow(item)) return; // the missing header is reported
    if (!this.context.admits(item, "file")) return;
    if (item.kind === "edge") mapEdge(this.context, item, this.level);
    else if (item.kind === "block") this.block(item);
  }

  private block(item: BlockItem): void {
    const { context, level, lists } = this;
    const keyword = item.keyword as keyof typeof BLOCKS;
    switch (keyword) {
      case "flow":
        if (this.header) level.twice(item, "flow");
        else this.header = mapFlow(context, item);
        this.flow ??= item;
        break;
      case "input":
      case "connection":
      case "schedule":
      case "output":
        mapDeclaration(context, item, keyword, level, lists[`${keyword}s`] as JsonObject[]);
        break;
      case "node":
        mapNode(context, item, level);
        break;
      case "layout":
        if (this.hasLayout) level.twice(item, "layout");
        else mapLayout(context, item, this.layout);
        this.hasLayout ||= !isEmptyLayout(item);
        break;
      case "body":
        break; // stands only in a node
    }
  }

  /** The graph of all items. `headless`: the first one could not be read, and was reported; it may have been the header. */
  finish(headless: boolean): FlowGraph {
    const { first, flow } = this;
    if (!headless && (first === undefined || first !== flow)) this.missingHeader();
    const lists = this.lists as unknown as Omit<FlowGraph, "version" | "id" | "layout">;
    return { version: 1, id: "", ...this.header, ...lists, layout: this.layout };
  }

  private missingHeader(): void {
    const { first, flow } = this;
    const at = first?.start ?? 0;
    const end = first?.kind === "block" ? first.keywordEnd : (first?.end ?? 0);
    const isMisspelt = first !== undefined && isMisspeltFlow(first);
    const fix = isMisspelt
      ? replacement("write flow", at, end, "flow")
      : replacement("add it", at, at, "flow 1 my-flow\n\n");
    this.context.report.add("FLOW2001", at, end, {
      hint: isMisspelt ? "did you mean flow?" : undefined,
      ...(flow
        ? { related: { start: flow.start, end: flow.end, message: "move it to the top" } }
        : { fix }),
    });
  }
}

/** Whether a block at the head of the file was meant as the header. */
function isMisspeltFlow(item: Item): boolean {
  return (
    item.kind === "block" &&
    !isBlockKeyword(item.keyword) &&
    nearestName(item.keyword, Object.keys(BLOCKS)) === "flow"
  );
}
