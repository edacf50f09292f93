/**
 * A folder whose `.flow` files are templates, for as long as this server runs.
 *   F1  What lies on the disk is the flow: a change of a file is a version of its template before anything else is done with it.
 *   F2  Nothing is written over bytes that this server has not read as a version. A text that cannot be read as a flow is refused
 *       once, as a save of what has changed; then it is kept beside the file.
 *   F3  A template of somewhere else is never changed by a file that happens to have its name.
 * @see docs/decisions/0067-a-folder-of-flows.md
 */
import { createHash } from "node:crypto";
import { realpathSync, watch } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Template, TemplateSource } from "@millrace/contracts";
import type { Registry } from "@millrace/engine";
import type { Store } from "@millrace/store";
import type { ServerLimits } from "../config/limits.ts";
import { inTurn } from "../dispatch/index.ts";
import { ProblemError } from "../errors.ts";
import { type ReadFlow, readText } from "../flows/read-flow.ts";
import type { FlowFiles, Logger } from "../ports.ts";
import {
  type DiskFile,
  digestOf,
  fileOf,
  keepCopy,
  keptName,
  listFlows,
  readFlow,
  replaceFlow,
  stemOf,
  withLineEndsOf,
} from "./disk.ts";
import type { FlowsOption } from "./option.ts";

export interface FlowFilesParts {
  readonly store: Pick<Store, "templates">;
  readonly registry: Registry;
  readonly limits: ServerLimits;
  readonly log: Logger;
}

/** A file that is a template, or would be if it could be read. */
interface Entry {
  readonly file: string;
  readonly slug: string;
  /** Digest of the bytes that the newest version was made of, or that were written for it; null: there is no file. */
  seen: string | null;
  /** Bytes that cannot be read as a flow, and why. */
  problem?: { readonly digest: string; readonly says: string } | undefined;
  /** Bytes whose loss was refused once. */
  refused?: string;
}

const MARK_DIGITS = 16;
const SHORT_DIGITS = 6;
const MAX_SLUG = 64;
/** An editor writes a file in several steps. */
const SETTLE_MS = 50;

/** Makes a template of each file, then follows the folder until `close`. */
export async function openFlowFiles(
  { dir, report }: FlowsOption,
  parts: FlowFilesParts,
): Promise<FlowFiles> {
  const { templates } = parts.store;
  const files = new Files(dir, parts, report ?? ((text) => parts.log.warn({}, text)));
  await inTurn(templates, async () => {
    for (const file of await listFlows(dir)) await files.adopt(file).catch(files.tell);
  });
  const settling = new Map<string, NodeJS.Timeout>();
  const look = (file: string): void => {
    settling.delete(file);
    void inTurn(templates, () => files.adopt(file).catch(files.tell));
  };
  const watcher = watch(dir, { persistent: false }, (_event, name) => {
    if (name === null || stemOf(name) === undefined) return;
    clearTimeout(settling.get(name));
    settling.set(
      name,
      setTimeout(() => look(name), SETTLE_MS),
    );
  });
  // A save looks at its file all the same.
  watcher.on("error", (error) => parts.log.warn({ err: error }, "flows.not_watched"));
  return Object.assign(files, {
    close() {
      watcher.close();
      for (const timer of settling.values()) clearTimeout(timer);
    },
  });
}

/** Every method is called in the turn of the templates. */
class Files {
  readonly #dir: string;
  readonly #parts: FlowFilesParts;
  readonly #report: (text: string) => void;
  /** Tells the templates of this folder from those of others. */
  readonly #mark: string;
  readonly #byFile = new Map<string, Entry>();
  readonly #bySlug = new Map<string, Entry>();

  constructor(dir: string, parts: FlowFilesParts, report: (text: string) => void) {
    this.#dir = dir;
    this.#parts = parts;
    this.#report = report;
    const real = realpathSync(dir);
    this.#mark = createHash("sha256").update(real).digest("hex").slice(0, MARK_DIGITS);
  }

  /** Tells why a file was not taken. */
  readonly tell = (error: unknown): void => {
    if (ProblemError.isInstance(error)) this.#report(error.message);
    else this.#parts.log.error({ err: error }, "flow.not_read");
  };

  async keeps(slug: string): Promise<boolean> {
    return this.#bySlug.has(slug) || (await this.#parts.store.templates.get(slug)) === null;
  }

  slugOf(name: string): string | undefined {
    return this.#byFile.get(fileOf(name))?.slug;
  }

  mark(source: TemplateSource): TemplateSource {
    return { ...source, folder: this.#mark };
  }

  async take(slug: string): Promise<void> {
    const file = this.#bySlug.get(slug)?.file ?? fileOf(slug);
    await this.adopt(file);
    const entry = this.#bySlug.get(slug);
    const { problem } = entry ?? {};
    if (entry === undefined || problem === undefined || problem.digest === entry.refused) return;
    entry.refused = problem.digest;
    throw new ProblemError("etag_mismatch", {
      detail: `${file} has changed on the disk and cannot be read: ${problem.says}. Doing this again keeps it as ${keptName(file, problem.digest)}`,
    });
  }

  async write(slug: string, given: string): Promise<string | undefined> {
    const entry = this.#bySlug.get(slug) ?? (await this.#newEntry(slug));
    if (entry === undefined) return undefined;
    const disk = await this.#unlost(entry);
    const kept = withLineEndsOf(disk, given);
    // What is written can be read again.
    const text = Buffer.byteLength(kept) > this.#parts.limits.maxDslBytes ? given : kept;
    const { mark = "" } = disk ?? {};
    const bytes = Buffer.from(text.startsWith(mark) ? text : `${mark}${text}`);
    const digest = digestOf(bytes);
    if (disk?.digest !== digest) {
      await replaceFlow(join(this.#dir, entry.file), bytes).catch((error: unknown) =>
        refuse(`${entry.file} cannot be written`, error),
      );
    }
    this.#know({ file: entry.file, slug, seen: digest });
    return text;
  }

  async remove(slug: string): Promise<void> {
    const entry = this.#bySlug.get(slug);
    if (entry === undefined) return;
    await this.#unlost(entry);
    await rm(join(this.#dir, entry.file), { force: true }).catch((error: unknown) =>
      refuse(`${entry.file} cannot be deleted`, error),
    );
    this.#byFile.delete(entry.file);
    this.#bySlug.delete(slug);
  }

  /** Makes a version of what a file holds by now, if it is not the newest one. */
  async adopt(file: string): Promise<void> {
    const stem = stemOf(file);
    if (stem === undefined) return;
    const disk = await this.#look(file);
    const known = this.#byFile.get(file);
    if (disk === null) {
      if (known !== undefined) this.#know({ ...known, seen: null, problem: undefined });
      return;
    }
    if (known?.seen === disk.digest || known?.problem?.digest === disk.digest) return;
    const flow = this.#read(disk);
    const slug =
      known?.slug ?? (await this.#slugFor(stem, typeof flow === "string" ? undefined : flow));
    const taken = this.#bySlug.get(slug);
    if (taken !== undefined && taken.file !== file) {
      this.#report(`${file} is not shown: ${taken.file} has the name ${slug}`);
      return;
    }
    if (typeof flow === "string") {
      this.#report(`${file} cannot be read as a flow: ${flow}`);
      const problem = { digest: disk.digest, says: flow };
      this.#know({ file, slug, seen: known?.seen ?? null, problem });
      return;
    }
    await this.#save(slug, flow);
    if (known === undefined && slug !== stem) {
      const why = slug === slugFrom(stem) ? "" : ": another one has its name";
      this.#report(`${file} is the template ${slug}${why}`);
    }
    this.#know({ file, slug, seen: disk.digest });
  }

  async #save(slug: string, { text, ...flow }: ReadFlow): Promise<void> {
    const { templates } = this.#parts.store;
    const current = await templates.get(slug);
    const isSame = current?.digest === flow.digest;
    const { name = flow.graph.title ?? slug, description = "", tags = [] } = current ?? {};
    await templates.save(
      {
        ...flow,
        dsl: text ?? flow.dsl,
        slug,
        name,
        description,
        tags,
        source: this.mark(isSame ? current.source : { kind: "local" }),
      },
      current?.version ?? null,
    );
  }

  /** The content of a file, or as text the reason why it cannot be read. A flow that does not run yet is a flow. */
  #read({ text, problem = "" }: DiskFile): ReadFlow | string {
    if (text === undefined) return problem;
    const { registry, limits } = this.#parts;
    try {
      return readText(text, { host: { registry }, limits, takesErrors: true });
    } catch (error) {
      if (!ProblemError.isInstance(error)) throw error;
      const [first] = error.options.errors ?? [];
      if (first === undefined) return error.message;
      const { line, column, code, message } = first;
      return line === undefined ? message : `${line}:${column} ${code} ${message}`;
    }
  }

  /** The name of the file, unless a template of somewhere else has it: then with the mark of this folder. */
  async #slugFor(stem: string, flow: ReadFlow | undefined): Promise<string> {
    const plain = slugFrom(stem);
    const current = await this.#parts.store.templates.get(plain);
    if (current === null || this.#isOurs(current) || current.digest === flow?.digest) return plain;
    const short = this.#mark.slice(0, SHORT_DIGITS);
    return `${plain.slice(0, MAX_SLUG - SHORT_DIGITS - 1).replace(/-+$/, "")}-${short}`;
  }

  #look(file: string): Promise<DiskFile | null> {
    return readFlow(join(this.#dir, file)).catch((error: unknown) =>
      refuse(`${file} cannot be read`, error),
    );
  }

  #isOurs({ source }: Template): boolean {
    return source.folder === this.#mark;
  }

  /** A new template has a file of its name, unless that is the file of another one. */
  async #newEntry(slug: string): Promise<Entry | undefined> {
    const file = fileOf(slug);
    if ((await this.#parts.store.templates.get(slug)) !== null || this.#byFile.has(file)) {
      return undefined;
    }
    return { file, slug, seen: null };
  }

  #know(entry: Entry): void {
    this.#byFile.set(entry.file, entry);
    this.#bySlug.set(entry.slug, entry);
  }

  /** The file as it is now, when nothing of it would be lost. Throws `etag_mismatch` for bytes that were not seen. */
  async #unlost({ file, seen, refused }: Entry): Promise<DiskFile | null> {
    const disk = await this.#look(file);
    if (disk === null || disk.digest === seen) return disk;
    if (disk.digest !== refused) {
      throw new ProblemError("etag_mismatch", { detail: `${file} has changed on the disk` });
    }
    const kept = await keepCopy(this.#dir, file, disk.digest);
    this.#report(`what ${file} held is kept as ${kept}`);
    return disk;
  }
}

const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** Throws what the disk says as a problem: the file is where this flow is stored. */
function refuse(what: string, cause: unknown): never {
  const { code } = cause as NodeJS.ErrnoException;
  const detail = `${what} (${code ?? "unknown"})`;
  throw new ProblemError(FULL.has(code) ? "store_full" : "store_read_only", { detail, cause });
}

function slugFrom(stem: string): string {
  const slug = stem
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "flow" : slug;
}
