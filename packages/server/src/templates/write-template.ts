/**
 * Writing a template: by a save, an import, a restore, or from a hub.
 *   W1  What is checked of the template that was there still holds when the new one is written.
 *   W2  A version never changes: the same digest and text make none, another one makes the next.
 *   W3  Of a folder of flows the file comes first: when the store fails, the file is a version as soon as it can be.
 */
import type { Template, TemplateSource } from "@millrace/contracts";
import { slugSchema } from "@millrace/contracts/schemas";
import { inTurn } from "../dispatch/index.ts";
import { invalidArg, ProblemError } from "../errors.ts";
import type { ReadFlow } from "../flows/read-flow.ts";
import type { ServerHost } from "../ports.ts";

/** A template to write; an absent member stays as it was, or comes from the flow. */
export interface TemplateDraft {
  readonly flow: ReadFlow;
  readonly name?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Absent: it was written here; a digest that was there keeps the source it had. */
  readonly source?: TemplateSource;
}

/**
 * Writes under `slug` what `draft` makes of the template that is there; it throws to refuse. Rejects with `etag_mismatch` when
 * another process was faster.
 */
export function writeTemplate(
  { store: { templates }, flowFiles }: Pick<ServerHost, "store" | "flowFiles">,
  slug: string,
  draft: (current: Template | null) => TemplateDraft | Promise<TemplateDraft>,
): Promise<{ readonly template: Template; readonly isNew: boolean }> {
  return inTurn(templates, async () => {
    await flowFiles?.take(slug);
    const current = await templates.get(slug);
    const { flow, source, ...said } = await draft(current);
    const { text, ...read } = flow;
    // A file is what its author wrote; what is in the store alone is canonical.
    const written = await flowFiles?.write(slug, text ?? flow.dsl);
    const origin =
      source ?? (current?.digest === flow.digest ? current.source : changedHere(current));
    const saved = await templates.save(
      {
        ...read,
        dsl: written ?? flow.dsl,
        slug,
        name: said.name ?? current?.name ?? flow.graph.title ?? slug,
        description: said.description ?? current?.description ?? "",
        tags: said.tags ?? current?.tags ?? [],
        source: written !== undefined && flowFiles !== undefined ? flowFiles.mark(origin) : origin,
      },
      current?.version ?? null,
    );
    if (saved === null) throw new ProblemError("etag_mismatch");
    return { template: saved, isNew: current === null };
  });
}

/** The source of what was written here. Which text a folder has pushed is known on, so that it can tell that its flow was changed. */
function changedHere(current: Template | null): TemplateSource {
  const { source } = current ?? {};
  const pushed = source?.kind === "hub" ? undefined : source?.pushed;
  return { kind: "local", ...(pushed && { pushed }) };
}

export function templateExists(slug: string): ProblemError {
  return new ProblemError("already_exists", {
    detail: `A template "${slug}" exists; choose another slug, or overwrite it`,
    members: { resource: "template" },
  });
}

/** The id of a flow or of an item as the slug of its template. Throws `invalid_args` where it cannot be one. */
export function slugFrom(id: string, what: "flow" | "item"): string {
  const read = slugSchema.safeParse(id);
  if (read.success) return read.data;
  throw invalidArg("/slug", `the id of the ${what} is no slug; give one`);
}
