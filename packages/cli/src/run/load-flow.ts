/** Loads and checks a flow, from a file or stdin, as `.flow` text or as a graph in JSON. */
import type { CatalogEntry, Diagnostic, FlowGraph, ServiceDefinition } from "@millrace/contracts";
import {
  checkFlow,
  completeGraph,
  type FlowCatalog,
  type FlowDocument,
  isOtherDocument,
  validateFlow,
} from "@millrace/dsl";
import type { CommandIo, Input } from "../argv/spec.ts";
import { configFlags, dataFolder } from "../config/files.ts";
import {
  type ConfigSources,
  describedExtensions,
  describedServices,
  readSources,
} from "../config/sources.ts";
import { CliError } from "../errors.ts";
import { folderOf, readInput } from "../files.ts";
import { errorsOf, invalidFlow, showFindings } from "../output/findings.ts";
import type { CliIo } from "../output/io.ts";
import { projectCatalog, withStoredFlows } from "./project-catalog.ts";

/** A flow that was read. `text` is absent for a graph in JSON, which has no lines worth showing. */
export interface FlowSource {
  /** As the person named it. */
  readonly name: string;
  /** Folder of the file; the working directory for stdin. */
  readonly folder: string;
  readonly text: string | undefined;
  readonly graph: FlowGraph;
  readonly document: FlowDocument | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The configuration files that it was checked with. */
  readonly sources: ConfigSources;
  /** Services that it was checked with. */
  readonly services: readonly ServiceDefinition[];
  /** Entries of extensions that it was checked with. */
  readonly extensions: readonly CatalogEntry[];
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
    /** The configuration files, where they are read already. */
    readonly sources?: ConfigSources;
    /** A graph in JSON is a text, too; the message names the command that writes it as a flow. */
    readonly asText?: boolean;
  } = {},
): Promise<FlowSource> {
  const bytes = config.bytes ?? (await readInput(name, io));
  const { file, home } = config;
  const options = { folder: folderOf(name, io), file, home };
  const sources = config.sources ?? (await readSources(options, io));
  const services = await describedServices(sources);
  const extensions = await describedExtensions(sources, config.watch);
  const catalog = await projectCatalog(sources, services, extensions, io);
  let read = readFlow(name, bytes, catalog, io, config.asText);
  if (read.text !== undefined && isOtherDocument(read.text)) {
    const translate = await (await import("./translation.ts")).translation(catalog);
    read = { ...read, diagnostics: translate(read.text, read.diagnostics) };
  }
  // A flow that no folder has may be kept in the data folder, which is opened for it alone.
  if (read.diagnostics.some(({ code }) => code === "FLOW4010")) {
    const known = await withStoredFlows(catalog, dataFolder(home, io));
    read = readFlow(name, bytes, known, io);
  }
  return { ...read, sources, services, extensions };
}

/** Parses and validates the bytes of a flow. */
function readFlow(
  name: string,
  bytes: Uint8Array,
  catalog: FlowCatalog,
  io: CliIo,
  asText = false,
): Omit<FlowSource, "sources" | "services" | "extensions"> {
  const folder = folderOf(name, io);
  const shown = name === "-" ? "<stdin>" : name;
  if (!asText && isJson(bytes)) {
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
  // Offsets of findings count a byte order mark.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const { graph, document, diagnostics } = checkFlow(bytes, catalog);
  return { name: shown, folder, text, graph, document, diagnostics };
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
  const source = await loadFlow(file, io, configFlags(input));
  const unread = errorsOf(source.diagnostics).filter(({ code }) => code < "FLOW2");
  if (unread.length === 0) return source;
  await showFindings(unread, source, io);
  throw invalidFlow(unread);
}
