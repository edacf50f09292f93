/** Stored templates as runs find them: by the slug of a request, or as flows that other flows call. */
import type { FlowGraph, Json, RunSpec } from "@millrace/contracts";
import { compileFlow, createEngine, type SubflowPort } from "@millrace/engine";
import type { Store, Templates } from "@millrace/store";
import { readSettings, runDefaults } from "../config/settings.ts";
import { ProblemError } from "../errors.ts";
import type { FlowFiles, ServerHost, TemplatePort } from "../ports.ts";
import { toProblems } from "./read-flow.ts";

/** The flow of a run request that names a template. */
export function templatePort(templates: Templates): TemplatePort {
  return {
    async get(slug, version) {
      const found =
        version === undefined ? await templates.get(slug) : await templates.version(slug, version);
      return found === null ? null : { slug, version: found.version, graph: found.graph };
    },
  };
}

/** The run of a stored template, of its newest version where none is named; undefined: there is none. */
export async function specOfTemplate(
  { templates, settings }: Pick<Store, "templates" | "settings">,
  { slug, version }: { readonly slug: string; readonly version?: number | undefined },
  more: Pick<RunSpec, "inputs" | "trigger" | "source" | "tags" | "traceparent">,
): Promise<RunSpec | undefined> {
  const flow =
    version === undefined ? await templates.get(slug) : await templates.version(slug, version);
  if (flow === null) return undefined;
  const { graph } = flow;
  const template = { slug, version: flow.version };
  return { ...runDefaults(graph, await readSettings(settings)), ...more, graph, template };
}

/**
 * Flows that other flows call. `hub/item` is the template that was installed from that item, whatever its slug is here; of
 * several the first by slug. A digest finds the newest version that has it.
 */
export function subflowPort(templates: Templates): SubflowPort {
  const localSlug = async (name: string): Promise<string | undefined> => {
    const [hub, item] = name.split(/\/(.*)/s);
    if (item === undefined) return name;
    const from = (await templates.list()).find(
      ({ source }) => source.kind === "hub" && source.hub === hub && source.item === item,
    );
    return from?.slug;
  };
  return {
    async get({ slug: name, version, digest }) {
      const slug = await localSlug(name);
      if (slug === undefined) return null;
      if (version === undefined && digest === undefined) return templates.get(slug);
      const found = (await templates.versions(slug)).find(
        (each) =>
          (version ?? each.version) === each.version && (digest ?? each.digest) === each.digest,
      );
      return found === undefined ? null : templates.version(slug, found.version);
    },
  };
}

/** The flows of a folder, by the names of their files, which may not be those of their templates. */
export function folderPort(templates: Templates, files: () => FlowFiles | undefined): SubflowPort {
  const stored = subflowPort(templates);
  return {
    async get({ slug: name, ...wanted }) {
      const slug = files()?.slugOf(name);
      return slug === undefined ? null : stored.get({ slug, ...wanted });
    },
  };
}

/**
 * Throws `input_invalid` when `inputs` do not fit the flow. A flow that does not compile is refused where it is run; it may
 * be mended until then.
 */
export async function checkFlowInputs(
  { registry, store }: Pick<ServerHost, "registry" | "store">,
  graph: FlowGraph,
  inputs: { readonly [name: string]: Json },
): Promise<void> {
  const compiled = await compileFlow(graph, {
    registry,
    subflows: subflowPort(store.templates),
    withoutCode: true,
  });
  if (!compiled.ok) return;
  const problems = createEngine().checkInputs(compiled.plan, inputs);
  if (problems.length > 0) {
    throw new ProblemError("input_invalid", { errors: toProblems(problems) });
  }
}
