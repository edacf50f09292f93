/** A flow on its way in: from a file or stdin, as `.flow` text or as a graph in JSON. */

import { open, readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { CatalogEntry, Diagnostic, FlowGraph, ServiceDefinition } from "@millrace/contracts";
import {
  checkFlow,
  completeGraph,
  type FlowCatalog,
  type FlowDocument,
  validateFlow,
} from "@millrace/dsl";
import type { CommandIo, Input } from "../argv/spec.ts";
import { describedExtensions, describedProviders, describedServices } from "../config/described.ts";
import { configWords } from "../config/files.ts";
import { CliError, reason, usage } from "../errors.ts";
import { renderDiagnostics } from "../output/code-frame.ts";
import type { CliIo } from "../output/io.ts";
import { createStyle } from "../output/style.ts";
import { coreEntries } from "./core-catalog.ts";

/** Most bytes of one thing that is read whole; a flow is text that people write. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 65_536; // as a stream reads

/** What was read. `text` is absent for a graph in JSON, which has no lines worth showing. */
export interface FlowSource {
  /** As the person named it. */
  readonly name: string;
  /** Folder of the file; the working directory for stdin. */
  readonly folder: string;
  readonly text: string | undefined;
  readonly graph: FlowGraph;
  readonly document: FlowDocument | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Bytes of a file or of stdin (`-`), at most 16 MiB. What cannot be read is a usage error that says why, and for what (`who`). */
export async function readInput(name: string, io: CliIo, who = ""): Promise<Uint8Array> {
  const shown = name === "-" ? "stdin" : name;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (name === "-" && io.isTTY.stdin) io.stderr.write("reads the keyboard; Ctrl-D ends it\n");
  try {
    for await (const chunk of name === "-" ? io.stdin : chunksOf(resolve(io.cwd, name))) {
      const part = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array);
      bytes += part.length;
      if (bytes > MAX_READ_BYTES) break;
      chunks.push(part);
    }
  } catch (error) {
    throw usage(`${who}cannot read ${shown}: ${reason(error)}`);
  }
  if (bytes > MAX_READ_BYTES) throw usage(`${who}${shown} is longer than ${MAX_READ_BYTES} bytes`);
  return Buffer.concat(chunks);
}

/** What a stream of the file would give, without the cost of a stream. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES));
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/**
 * Reads a flow and checks it against the core catalog and the services described beside it; nothing is executed. `bytes`: those
 * of a flow that is no file.
 */
export async function loadFlow(
  name: string,
  io: CliIo,
  config: {
    readonly file?: string | undefined;
    readonly home?: string | undefined;
    readonly bytes?: Uint8Array;
    /** Folders of extensions that have changed count as they are. */
    readonly watch?: boolean;
  } = {},
): Promise<FlowSource> {
  const bytes = config.bytes ?? (await readInput(name, io));
  const { file, home } = config;
  const options = { folder: folderOf(name, io), file, home };
  const services = await describedServices(options, io);
  const extensions = await describedExtensions(options, io, config.watch);
  const providers = await describedProviders(options, io);
  const flow = readFlow(name, bytes, await catalogWith(services, extensions, providers), io);
  if (!flow.diagnostics.some(isUnknownService)) return flow;
  const { strayServices } = await import("../config/services.ts");
  const hint =
    (await strayServices(options, io)) ??
    (services.length > 0 ? undefined : "millrace services import describes one");
  const diagnostics = flow.diagnostics.map((each) =>
    hint !== undefined && isUnknownService(each) ? { ...each, hint } : each,
  );
  return { ...flow, diagnostics };
}

/** Whether a connection names a service that is not described. */
function isUnknownService({ code, pointer = "" }: Diagnostic): boolean {
  return code === "FLOW3006" && /^\/connections\/\d+\/(?:service|slug|name)$/.test(pointer);
}

/** Core's entries, and those of services and extensions, as validation reads them. */
async function catalogWith(
  services: readonly ServiceDefinition[],
  extensions: readonly CatalogEntry[],
  providers: readonly string[] | undefined,
): Promise<FlowCatalog> {
  const core = {
    ...catalogOf([...coreEntries(), ...extensions]),
    services: [
      ...services.map(({ slug }) => slug),
      ...extensions.flatMap(({ type, serviceIntegration }) =>
        serviceIntegration === undefined ? [] : [type.replace(/^service\./, "")],
      ),
    ],
    ...(providers !== undefined && { providers }),
  };
  if (services.length === 0) return core;
  const { catalogEntryOf } = await import("@millrace/contracts");
  const entries = new Map(
    services.map((service) => [`service.${service.slug}`, catalogEntryOf(service)]),
  );
  return { ...core, entry: (type, version) => core.entry(type, version) ?? entries.get(type) };
}

/** Folder of a file; the working directory for stdin. */
export function folderOf(name: string, io: CliIo): string {
  return name === "-" ? io.cwd : resolve(io.cwd, name, "..");
}

/** Parses and validates the bytes of a flow. */
function readFlow(name: string, bytes: Uint8Array, catalog: FlowCatalog, io: CliIo): FlowSource {
  const folder = folderOf(name, io);
  const shown = name === "-" ? "<stdin>" : name;
  if (isJson(bytes)) {
    const graph = parseGraph(shown, bytes);
    return {
      name: shown,
      folder,
      text: undefined,
      graph,
      document: undefined,
      diagnostics: validateFlow(graph, catalog),
    };
  }
  const text = new TextDecoder().decode(bytes);
  const { graph, document, diagnostics } = checkFlow(bytes, catalog);
  return { name: shown, folder, text, graph, document, diagnostics };
}

/** Entries as validation reads them; the newest version of a type is its last. */
function catalogOf(all: readonly CatalogEntry[]): FlowCatalog {
  const entries = [...all].sort((a, b) => a.version - b.version);
  return {
    types: () => new Set(entries.map(({ type }) => type)),
    entry: (type, version) =>
      entries.findLast(
        (each) => each.type === type && (version === undefined || each.version === version),
      ),
  };
}

/** Whether a flow may run: no error among its diagnostics, and no warning either when `strict`. */
export function isValid(diagnostics: readonly Diagnostic[], strict = false): boolean {
  return diagnostics.every(
    ({ severity }) => severity === "info" || (severity === "warning" && !strict),
  );
}

/** "1 error", "2 errors, 1 warning, 1 info"; "nothing found". */
export function countFindings(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: string) =>
    diagnostics.filter((each) => each.severity === severity).length;
  const words = (["error", "warning", "info"] as const)
    .map((severity) => ({ severity, n: count(severity) }))
    .filter(({ n }) => n > 0)
    .map(({ severity, n }) => `${n} ${severity}${n === 1 ? "" : "s"}`);
  return words.join(", ") || "nothing found";
}

/** Files named by a person: a folder stands for every `.flow` file below it, in order of name. */
export async function expandFiles(names: readonly string[], io: CliIo): Promise<string[]> {
  if (names.filter((name) => name === "-").length > 1)
    throw usage("only one thing can read stdin", "name - once");
  const files: string[] = [];
  for (const name of names) {
    if (name === "-") {
      files.push(name);
      continue;
    }
    const path = resolve(io.cwd, name);
    const info = await stat(path).catch((error: unknown) => {
      throw usage(`cannot read ${name}: ${reason(error)}`);
    });
    if (!info.isDirectory()) files.push(name);
    else {
      const below = await flowFiles(path);
      if (below.length === 0) throw usage(`no .flow file below ${name}`);
      files.push(...below.map((file) => relative(io.cwd, file)));
    }
  }
  return files;
}

async function flowFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      throw usage(`cannot read ${folder}: ${reason(error)}`);
    },
  );
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".flow"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !relative(folder, path).split(sep).includes("node_modules"))
    .sort();
}

function isJson(bytes: Uint8Array): boolean {
  for (const byte of bytes.subarray(0, 1_024)) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    return byte === 0x7b;
  }
  return false;
}

function parseGraph(name: string, bytes: Uint8Array): FlowGraph {
  try {
    return completeGraph(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    throw new CliError("flow_invalid", `${name} begins with "{" but is not JSON`, {
      hint: "give .flow text, or a graph as JSON",
    });
  }
}

/** Findings in the order of their places; those without one last. */
export function sorted(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const offset = (each: Diagnostic) => each.range?.start.offset ?? Number.MAX_SAFE_INTEGER;
  return [...diagnostics].sort(
    (a, b) => offset(a) - offset(b) || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

/** Reads a flow. Ends with `flow_invalid`, after showing where, when part of its text was not understood. */
export async function readableFlow(file: string, input: Input, io: CommandIo): Promise<FlowSource> {
  const source = await loadFlow(file, io, configWords(input));
  const unread = source.diagnostics.filter(
    ({ code, severity }) => severity === "error" && code < "FLOW2",
  );
  if (unread.length === 0) return source;
  if (io.json === undefined) {
    const style = createStyle(io.colour, io.env);
    await io.err.write(`${await renderDiagnostics(unread, source, style)}\n`);
  }
  throw new CliError("flow_invalid", countFindings(unread), { diagnostics: unread, told: true });
}
