/**
 * The flows of a folder as templates.
 *   P1  All of them are stored, or none: the answer has the problems of all, by their places in the request.
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
    const count = ({ length }: readonly Problem[]): string =>
      length === 1 ? "1 flow is" : `${length} flows are`;
    refuseAll("state_conflict", conflicts, `${count(conflicts)} not as the last push left it`);
    refuseAll("in_use", inUse, `${count(inUse)} used and cannot be deleted`);
    const remove = removals as readonly Removal[];
    // A pull and a push in a row make the folder the one that has pushed it.
    const own = flows.flatMap(({ slug, flow, known: is }) =>
      flow === undefined && is !== undefined && isOurs(is, args.by)
        ? [{ slug, expected: is.summary.version, source: pushedBy(args.by, is.text) }]
        : [],
    );
    if (!args.dryRun) {
      const save = changed.map((one) => ({
        ...templateOf(one, args.by),
        expected: one.known?.summary.version ?? null,
      }));
      const isStored = await store.templates.replaceAll({ save, remove, own });
      if (!isStored)
        throw new ProblemError("state_conflict", { detail: "Somebody else was faster" });
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
  const first: Problem[] = []; // of each flow: all of these are reported before any other
  const rest: Problem[] = [];
  const seen = new Set<string>();
  let begun = performance.now();
  for (const [at, { slug, dsl }] of flows.entries()) {
    const is = known.get(slug);
    if (performance.now() - begun > TURN_MS) {
      await setImmediate();
      begun = performance.now();
    }
    try {
      if (seen.has(slug)) {
        throw new ProblemError("flow_invalid", { detail: `there are two flows "${slug}"` });
      }
      seen.add(slug);
      const flow = is?.text === dsl ? undefined : readText(dsl, reader);
      const isNew = flow !== undefined && flow.dsl !== is?.text;
      read.push({ at, slug, known: is, ...(isNew && { flow }) });
    } catch (error) {
      if (!ProblemError.isInstance(error)) throw error;
      const { errors: found = [{ pointer: "", code: error.code, message: error.message }] } =
        error.options;
      const placed = found.map((one) => ({ ...one, pointer: `/flows/${at}${one.pointer}` }));
      first.push(...placed.slice(0, 1));
      rest.push(...placed.slice(1));
    }
  }
  const what = `${first.length} of ${flows.length} flows are wrong`;
  refuseAll("flow_invalid", [...first, ...rest], what);
  return read;
}

function refuseAll(
  code: "flow_invalid" | "state_conflict" | "in_use",
  errors: readonly Problem[],
  what: string,
): void {
  if (errors.length === 0) return;
  throw new ProblemError(code, { detail: what, errors: errors.slice(0, MAX_ERRORS) });
}

/** Templates that the folder has pushed and no longer has. */
function goneFrom({ by, flows }: Args, known: ReadonlyMap<string, NewestText>): NewestText[] {
  const slugs = new Set(flows.map(({ slug }) => slug));
  return [...known.values()].filter(
    ({ summary }) => pushedOf(summary.source)?.by === by && !slugs.has(summary.slug),
  );
}

function pushedBy(by: string, text: string) {
  return { kind: "local", pushed: { by, text: digestOf(text) } } as const;
}

function pushedOf(source: TemplateSource) {
  return source.kind === "hub" ? undefined : source.pushed;
}

/** Whether a template that is as the folder has it is to be noted as pushed by it. */
function isOurs({ summary: { source }, text }: NewestText, by: string): boolean {
  if (source.kind !== "local" || source.folder !== undefined) return false;
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
  const isFile = source.folder !== undefined;
  const isSeen = at !== undefined && flows[at]?.base === text;
  if (!isFile && (isSeen || (pushed?.by === by && pushed.text === text))) return [];
  const why = isFile
    ? "is a file of a folder, as millrace studio keeps it"
    : pushed === undefined
      ? `version ${version} was not made by a push`
      : pushed.by === by
        ? `version ${version} was changed there`
        : `is pushed by ${pushed.by}`;
  const pointer = at === undefined ? "" : `/flows/${at}`;
  return [{ pointer, code: "changed", message: `${slug}: ${why}` }];
}

/** The rows that are deleted with a template: the schedules that its flow declares. Any other use keeps the template. */
async function removalOf(
  { store }: ServerHost,
  { summary: { slug, version } }: NewestText,
): Promise<Removal | Problem> {
  const uses = ({ body }: { readonly body: unknown }): boolean =>
    (body as { readonly template?: unknown }).template === slug;
  const schedules = (await store.schedules.list()).filter(uses);
  const names = await declaredBy(store, { slug, version, wanted: schedules.flatMap(nameOf) });
  const declared = schedules.filter((each) => nameOf(each).some((name) => names.has(name)));
  const others = [...schedules, ...(await store.webhooks.list()).filter(uses)].filter(
    (each) => !declared.some(({ id }) => id === each.id),
  );
  if (others.length === 0) {
    return { slug, expected: version, schedules: declared.map(({ id }) => id) };
  }
  const ids = others.map(({ id }) => id).join(", ");
  return { pointer: "", code: "in_use", message: `${slug}: ${ids}` };
}

function nameOf({ body }: { readonly body: unknown }): string[] {
  const { name } = body as { readonly name?: unknown };
  return typeof name === "string" ? [name] : [];
}

/** Which of the names are those of schedules that any version of a template declares. */
async function declaredBy(
  { templates }: ServerHost["store"],
  {
    slug,
    version,
    wanted,
  }: { readonly slug: string; readonly version: number; readonly wanted: readonly string[] },
): Promise<Set<string>> {
  const names = new Set<string>();
  for (let at = version; at > 0 && !wanted.every((name) => names.has(name)); at -= 1) {
    const { schedules = [] } = (await templates.version(slug, at))?.graph ?? {};
    for (const { name } of schedules) names.add(name);
  }
  return names;
}

function templateOf({ slug, flow, known }: Changed, by: string): NewTemplate {
  const { graph, dsl, digest } = flow;
  const { name = graph.title ?? slug, description = "", tags = [] } = known?.summary ?? {};
  const folder = known?.summary.source.folder;
  const source = { ...pushedBy(by, dsl), ...(folder !== undefined && { folder }) };
  return { slug, graph, dsl, digest, name, description, tags, source };
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
