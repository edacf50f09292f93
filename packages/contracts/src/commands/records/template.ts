/** Templates: stored flows, addressed by slug; each save that changes the flow is a new immutable version. */
import type { Diagnostic } from "../../diagnostics.ts";
import type { Digest } from "../../events/shapes.ts";
import type { FlowGraph } from "../../graph.ts";

/** Where a template came from. */
export type TemplateSource =
  | { readonly kind: "local" | "import" }
  | {
      readonly kind: "hub";
      readonly hub: string;
      readonly item: string;
      readonly version: string;
      readonly digest: Digest;
    };

/** A flow as text or as graph, one of them. */
export type FlowArgs =
  | { readonly graph: FlowGraph; readonly dsl?: never }
  | { readonly dsl: string; readonly graph?: never };

/** A template without its content. */
export interface TemplateSummary {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: TemplateSource;
  /** 1, 2, 3 … */
  readonly version: number;
  /** Identity of the graph. */
  readonly digest: Digest;
  readonly updatedAt: string;
}

/** `dsl` keeps the author's comments; `graph` is what runs. */
export interface Template extends TemplateSummary {
  readonly dsl: string;
  readonly graph: FlowGraph;
}

/** One immutable version of a template, without its content. */
export interface TemplateVersionSummary {
  readonly slug: string;
  readonly version: number;
  readonly digest: Digest;
  readonly createdAt: string;
}

/** One immutable version of a template. */
export interface TemplateVersion extends TemplateVersionSummary {
  readonly dsl: string;
  readonly graph: FlowGraph;
}

/** What validation found; `valid`: no diagnostic is an error. */
export interface FlowReport {
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
}
