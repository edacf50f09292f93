/** Commands of stored flows. Text and graph are read, checked and kept; nothing of them is executed. */
import type { Template, TemplateVersion } from "@millrace/contracts";
import { formatFlow } from "@millrace/dsl";
import {
  checkConditions,
  inTurn,
  keyed,
  pageOf,
  tagged,
  wire,
  withTag,
} from "../dispatch/index.ts";
import { known, ProblemError } from "../errors.ts";
import { type FlowReader, readGraph, readText } from "../flows/read-flow.ts";
import type { CommandCall, HandlerList, ServerHost } from "../ports.ts";
import { listTemplates } from "./list-templates.ts";
import { pushTemplates } from "./push-templates.ts";
import { slugFrom, templateExists, writeTemplate } from "./write-template.ts";

export const templateHandlers: HandlerList = [
  wire("list_templates", (args, { host }) => listTemplates(host.store, args)),
  wire("get_template", async ({ slug }, { host }) => tagged(await knownTemplate(host, slug))),
  wire("save_template", async (args, call) => {
    const { slug, ifMatch, ifNoneMatch, dsl, graph, takeErrors, ...meta } = args;
    const reader = await readerOf(call, slug, takeErrors);
    const { template, isNew } = await writeTemplate(call.host, slug, (current) => {
      checkConditions(current, { ifMatch, ifNoneMatch });
      const flow =
        graph === undefined ? readText(dsl ?? "", reader) : readGraph(graph, current?.dsl, reader);
      return { ...meta, flow };
    });
    return tagged(template, { status: isNew ? 201 : 200 });
  }),
  wire("delete_template", ({ slug, ifMatch }, { host }) => deleteTemplate(host, slug, ifMatch)),
  wire("list_template_versions", async ({ slug, ...page }, { host }) => {
    await knownTemplate(host, slug);
    const filter = { list: "template versions", slug };
    const all = await host.store.templates.versions(slug);
    return pageOf(all, ({ version }) => -version, page, { store: host.store, filter });
  }),
  wire("get_template_version", async ({ slug, version }, { host }) =>
    tagged(await knownVersion(host, slug, version)),
  ),
  wire("restore_template_version", (args, call) =>
    withTag(
      keyed(call, "restore_template_version", args, async () => {
        const { slug, version, ifMatch } = args;
        const { template } = await writeTemplate(call.host, slug, async (current) => {
          known(current, "template");
          const { dsl, graph, digest } = await knownVersion(call.host, slug, version);
          checkConditions(current, { ifMatch });
          return { flow: { dsl, graph, digest } };
        });
        return template;
      }),
    ),
  ),
  wire("import_template", (args, call) =>
    withTag(
      keyed(call, "import_template", args, async () => {
        const flow = readText(args.text, await readerOf(call, args.slug));
        const slug = args.slug ?? slugFrom(flow.graph.id, "flow");
        const { template } = await writeTemplate(call.host, slug, (current) => {
          if (current !== null && !args.overwrite) throw templateExists(slug);
          return { flow, source: { kind: "import" } };
        });
        return template;
      }),
    ),
  ),
  wire("push_templates", (args, call) => pushTemplates(args, call)),
  wire("export_template", async ({ slug }, { host }) => ({
    text: formatFlow((await knownTemplate(host, slug)).dsl).text,
  })),
];

/** A file may hold a flow that does not run yet; a template that is in the store alone only where the caller says so. */
async function readerOf(
  { app, host }: CommandCall,
  slug: string | undefined,
  takeErrors = false,
): Promise<FlowReader> {
  const isFile = slug !== undefined && (await host.flowFiles?.keeps(slug)) === true;
  return { host, limits: app.limits, takesErrors: takeErrors || isFile };
}

async function deleteTemplate(
  { store, flowFiles }: ServerHost,
  slug: string,
  ifMatch: string | undefined,
): Promise<null> {
  return inTurn(store.templates, async () => {
    await flowFiles?.take(slug);
    const current = known(await store.templates.get(slug), "template");
    checkConditions(current, { ifMatch });
    const users = [...(await store.schedules.list()), ...(await store.webhooks.list())].filter(
      ({ body }) => (body as { readonly template?: unknown }).template === slug,
    );
    if (users.length > 0) {
      const ids = users.map(({ id }) => id);
      throw new ProblemError("in_use", {
        detail: `Schedules or webhooks use it; delete them first: ${ids.join(", ")}`,
        members: { usedBy: ids },
      });
    }
    await flowFiles?.remove(slug);
    if (!(await store.templates.delete(slug, current.version))) {
      throw new ProblemError("etag_mismatch");
    }
    return null;
  });
}

const knownTemplate = async ({ store }: ServerHost, slug: string): Promise<Template> =>
  known(await store.templates.get(slug), "template");

const knownVersion = async (
  { store }: ServerHost,
  slug: string,
  version: number,
): Promise<TemplateVersion> =>
  known(await store.templates.version(slug, version), "template version");
