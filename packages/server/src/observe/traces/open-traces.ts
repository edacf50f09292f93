/**
 * Traces as the variables `OTEL_*` want them. Where no receiver is named nothing is loaded, and nobody is asked for anything.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { secretVariable } from "@millrace/providers/secret-variables";
import type { Environment } from "../../config/read-options.ts";
import type { Logger } from "../../ports.ts";
import type { Traces } from "./traces.ts";

export type { ServedRequest, Traces } from "./traces.ts";

/** Parts of the process that are needed to open traces. */
export interface TraceParts {
  /** Says why there are no traces, and when the receiver takes none. */
  readonly log: Pick<Logger, "warn" | "info">;
  /** How long a batch, and so the end of the process, waits for the receiver at most; default 5 s. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;

/** Command that installs the packages, in the versions that were tested with and that run on every supported Node. */
const INSTALL =
  "npm install @opentelemetry/api@1.9 @opentelemetry/resources@2 @opentelemetry/sdk-trace@2 @opentelemetry/exporter-trace-otlp";
const VERSION = "@0.223";

/** Whether the variables ask for traces. */
export function wantsTraces(env: Environment): boolean {
  return endpointOf(env) !== undefined && env["OTEL_SDK_DISABLED"]?.toLowerCase() !== "true";
}

/** Traces, where they are wanted and can be made. */
export async function openTraces(
  env: Environment,
  { log, timeoutMs: most = TIMEOUT_MS }: TraceParts,
): Promise<Traces | undefined> {
  const url = endpointOf(env);
  if (url === undefined || !wantsTraces(env)) return undefined;
  const warn = (problem: string): void => log.warn({ problem }, "traces.not_opened");
  const protocol = ofTraces(env, "PROTOCOL") ?? "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    warn(`OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} is not known; use http/protobuf or http/json`);
    return undefined;
  }
  try {
    const [{ createSink }, { Traces }] = await Promise.all([
      import("./otlp-sink.ts"),
      import("./traces.ts"),
    ]);
    const limit = Number(ofTraces(env, "TIMEOUT") ?? Number.NaN);
    const sink = await createSink({
      ...{ url, protocol, env },
      told: (problem) =>
        problem === undefined ? log.info({}, "traces.back") : log.warn({ problem }, "traces.lost"),
      headers: headersOf(env),
      timeoutMs: limit > 0 ? Math.min(limit, most) : most,
      resource: {
        ...pairsOf(env["OTEL_RESOURCE_ATTRIBUTES"]),
        "service.name":
          env["OTEL_SERVICE_NAME"] ||
          (pairsOf(env["OTEL_RESOURCE_ATTRIBUTES"])["service.name"] ?? "millrace"),
      },
    });
    return new Traces(sink, { startedBy: env["TRACEPARENT"] });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // `import` says ERR_MODULE_NOT_FOUND, `require` of a bundle in CommonJS the end of it.
    const isMissing = code?.endsWith("MODULE_NOT_FOUND") && message.includes("@opentelemetry/");
    const exporter = protocol === "http/json" ? "-http" : "-proto";
    warn(
      isMissing
        ? `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages for traces are not installed: ${INSTALL}${exporter}${VERSION}`
        : `there are no traces: ${message}`,
    );
    return undefined;
  }
}

/** Where spans are sent; undefined: nowhere. */
function endpointOf(env: Environment): string | undefined {
  if (env["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  const own = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  if (own) return own;
  const all = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  return all ? `${all.replace(/\/$/, "")}/v1/traces` : undefined;
}

/** A setting of the exporter: that of traces alone, else that of all signals. */
function ofTraces(env: Environment, name: string): string | undefined {
  return env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
}

/** Headers for the receiver, whose key stands in one of them. Throws for a file that cannot be read. */
function headersOf(env: Environment): Readonly<Record<string, string>> {
  const [all, own] = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"].map(
    (name) => pairsOf(secretVariable(env, name)),
  );
  return { ...all, ...own };
}

/** `name=value` pairs behind commas, percent-encoded. */
function pairsOf(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").map((pair) => pair.split(/=(.*)/s, 2));
  return Object.fromEntries(
    pairs.flatMap(([name = "", value]) =>
      value === undefined ? [] : [[name.trim(), decoded(value.trim())]],
    ),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
