/**
 * The flows of a folder as templates.
 *   P1  All of them are stored, or none: whatever is wrong with any is told of all, by its place in the request.
 *   P2  A template that somebody else has changed since the folder was pushed or pulled is not replaced without `force`.
 *   P3  What the folder did not push is never deleted.
 */
import { setImmediate } from "node:timers/promises";
import type { Digest, ParsedArgs, Problem, PushReport, TemplateSource } from "@millrace/contracts";
import { sha256Hex } from "@millrace/contracts/kit";
import type { NewestText, NewTemplate } from "@millrace/store";
import { inTurn } from "../dispatch/index.ts";
import { MAX_ERRORS, ProblemError } from "../errors.ts";
import { type FlowReader, type ReadFlow, readText } from "../flows/read-flow.ts";
import type { CommandCall, ServerHost } from "../ports.ts";

/** Flows are read for so long before others have a turn. */
const TURN_MS = 10;

type Args = ParsedArgs<"push_templates">;

/** A flow of the request that is read, and what is there of it. */
interface Pushed {
  readonly at: number;
  readonly slug: string;
  /** Absent: its text is there as it is. */
  readonly flow?: ReadFlow;
  readonly known: NewestText | undefined;
}
type Changed = Pushed & { readonly flow: ReadFlow };

type Removal = Parameters<ServerHost["store"]["templates"]["replaceAll"]>[0]["remove"][number];

/** Stores them, or says what would be stored. */
export function pushTemplates(args: Args, { host, app }: CommandCall): Promise<PushReport> {
  const { store } = host;
  if (host.flowFiles !== undefined) {
    const detail = "The flows of this server are files of a folder; change them there";
    throw new ProblemError("state_conflict", { detail });
  }
  return inTurn(store.templates, async () => {
    const known = await store.templates.texts();
    const flows = await readAll(args, known, { host, limits: app.limits });
    const changed = flows.filter((one): one is Changed => one.flow !== undefined);
    const gone = args.prune ? goneFrom(args, known) : [];
    const conflicts = args.force
      ? []
      : [...changed, ...gone].flatMap((one) => conflictOf(one, args));
    const removals = await Promise.all(gone.map((one) => removalOf(host, one)));
    const inUse = removals.flatMap((one) => ("message" in one ? [one] : []));
    refuseAll("state_conflict", conflicts, "flows were changed since the last push");
    refuseAll("in_use", inUse, "flows are used and cannot be deleted");
    const remove = removals as readonly Removal[];
    // A pull and a push in a row make the folder the one that has pushed it.
    const owned = flows.flatMap(({ flow, known: is }) =>
      flow === undefined && is !== undefined && isOurs(is, args.by) ? [is] : [],
    );
    if (!args.dryRun) {
      const save = changed.map((one) => ({
        ...templateOf(one, args.by),
        expected: versionOf(one),
      }));
      const isStored = await store.templates.replaceAll({ save, remove });
      if (!isStored)
        throw new ProblemError("state_conflict", { detail: "Somebody else was faster" });
      await own(host, owned, args.by);
      if (remove.some(({ schedules }) => schedules.length > 0)) host.scheduler?.wake();
    }
    return reportOf({ flows, changed, gone, dryRun: args.dryRun });
  });
}

/** Reads every flow. Throws `flow_invalid` with what is wrong with any of them. */
async function readAll(
  { flows }: Args,
  known: ReadonlyMap<string, NewestText>,
  reader: FlowReader,
): Promise<Pushed[]> {
  const read: Pushed[] = [];
  const errors: Problem[] = [];
  const seen = new Set<string>();
  let wrong = 0;
  let begun = performance.now();
  for (const [at, { slug, dsl }] of flows.entries()) {
    const is = known.get(slug);
    if (performance.now() - begun > TURN_MS) {
      await setImmediate();
      begun = performance.now();
    }
    try {
      if (seen.has(slug)) throw twice(slug);
      seen.add(slug);
      const flow = is?.text === dsl ? undefined : readText(dsl, reader);
      const isNew = flow !== undefined && flow.dsl !== is?.text;
      read.push({ at, slug, known: is, ...(isNew && { flow }) });
    } catch (error) {
      if (!ProblemError.isInstance(error)) throw error;
      wrong += 1;
      const { errors: found = [{ pointer: "", code: error.code, message: error.message }] } =
        error.options;
      errors.push(...found.map((one) => ({ ...one, pointer: `/flows/${at}${one.pointer}` })));
    }
  }
  refuseAll("flow_invalid", errors, `${wrong} of ${flows.length} flows are wrong`);
  return read;
}

function twice(slug: string): ProblemError {
  return new ProblemError("flow_invalid", { detail: `there are two flows "${slug}"` });
}

function refuseAll(
  code: "flow_invalid" | "state_conflict" | "in_use",
  errors: readonly Problem[],
  what: string,
): void {
  if (errors.length === 0) return;
  throw new ProblemError(code, { detail: what, errors: errors.slice(0, MAX_ERRORS) });
}

/** What the folder has pushed and has no more. */
function goneFrom({ by, flows }: Args, known: ReadonlyMap<string, NewestText>): NewestText[] {
  const slugs = new Set(flows.map(({ slug }) => slug));
  return [...known.values()].filter(
    ({ summary }) => pushedOf(summary.source)?.by === by && !slugs.has(summary.slug),
  );
}

function pushedOf(source: TemplateSource) {
  return source.kind === "hub" ? undefined : source.pushed;
}

/** Whether a template that is as the folder has it is to be noted as pushed by it. */
function isOurs({ summary: { source }, text }: NewestText, by: string): boolean {
  if (source.kind !== "local") return false;
  return (
    source.pushed === undefined ||
    (source.pushed.by === by && source.pushed.text !== digestOf(text))
  );
}

/** Why a template is not replaced, or deleted. */
function conflictOf(one: Pushed | NewestText, { by, flows }: Args): Problem[] {
  const is = "summary" in one ? one : one.known;
  if (is === undefined) return [];
  const { slug, source, version } = is.summary;
  const at = "at" in one ? one.at : undefined;
  const text = digestOf(is.text);
  const pushed = pushedOf(source);
  const isSeen = at !== undefined && flows[at]?.base === text;
  if (isSeen || (pushed?.by === by && pushed.text === text)) return [];
  const why =
    pushed === undefined
      ? `version ${version} was not made by a push`
      : pushed.by === by
        ? `version ${version} was changed there`
        : `is pushed by ${pushed.by}`;
  const pointer = at === undefined ? "" : `/flows/${at}`;
  return [{ pointer, code: "changed", message: `${slug}: ${why}` }];
}

/** What goes with a template: the schedules that its flow declares. Anything else that uses it keeps it. */
async function removalOf(
  { store }: ServerHost,
  { summary: { slug, version } }: NewestText,
): Promise<Removal | Problem> {
  const uses = ({ body }: { readonly body: unknown }): boolean =>
    (body as { readonly template?: unknown }).template === slug;
  const schedules = (await store.schedules.list()).filter(uses);
  const declared = schedules.filter(({ body }) => "name" in (body as object));
  const others = [...schedules, ...(await store.webhooks.list()).filter(uses)].filter(
    (each) => !declared.some(({ id }) => id === each.id),
  );
  if (others.length === 0) {
    return { slug, expected: version, schedules: declared.map(({ id }) => id) };
  }
  const ids = others.map(({ id }) => id).join(", ");
  return { pointer: "", code: "in_use", message: `${slug}: ${ids}` };
}

function templateOf({ slug, flow, known }: Changed, by: string): NewTemplate {
  const { graph, dsl, digest } = flow;
  const { name = graph.title ?? slug, description = "", tags = [] } = known?.summary ?? {};
  const source = { kind: "local", pushed: { by, text: digestOf(dsl) } } as const;
  return { slug, graph, dsl, digest, name, description, tags, source };
}

/** Notes of templates that are as the folder has them that it has pushed them. */
async function own(
  { store: { templates } }: ServerHost,
  same: readonly NewestText[],
  by: string,
): Promise<void> {
  for (const { summary, text } of same) {
    const template = await templates.get(summary.slug);
    if (template === null) continue;
    const source = { kind: "local", pushed: { by, text: digestOf(text) } } as const;
    await templates.save({ ...template, source }, summary.version);
  }
}

function versionOf({ known }: Pushed): number | null {
  return known?.summary.version ?? null;
}

function reportOf({
  flows,
  changed,
  gone,
  dryRun,
}: {
  readonly flows: readonly Pushed[];
  readonly changed: readonly Changed[];
  readonly gone: readonly NewestText[];
  readonly dryRun: boolean;
}): PushReport {
  const written = changed.map(({ slug, flow, known }) => ({
    slug,
    change: known === undefined ? ("created" as const) : ("updated" as const),
    version: (known?.summary.version ?? 0) + 1,
    ...(dryRun && known && { before: known.text }),
    ...(dryRun && { after: flow.dsl }),
  }));
  const removed = gone.map(({ summary: { slug }, text }) => ({
    slug,
    change: "removed" as const,
    version: 0,
    ...(dryRun && { before: text }),
  }));
  const changes = [...written, ...removed].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return { changes, same: flows.length - changed.length };
}

function digestOf(text: string): Digest {
  return `sha256:${sha256Hex(new TextEncoder().encode(text))}`;
}
