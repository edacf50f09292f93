/** A receiver of traces on loopback: OTLP over HTTP, of which it reads the form in JSON. */
import type { IncomingHttpHeaders } from "node:http";
import { serveHttp } from "./loopback.ts";

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first of a trace. */
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver that listens until the end of the test. */
export interface Receiver {
  readonly url: string;
  /** All that have come, in their order. */
  readonly spans: readonly ReceivedSpan[];
  /** Bodies and headers of requests, as they came. */
  readonly requests: readonly { readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
}

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type RawSpan = Omit<ReceivedSpan, "attributes" | "resource"> & { readonly attributes: Pair[] };

/** The one value that a wrapper of OTLP holds. */
function plainOf(value: Pair["value"]): unknown {
  const [[kind, inner] = []] = Object.entries(value);
  if (kind === "intValue") return Number(inner);
  if (kind !== "arrayValue") return inner;
  return (inner as { readonly values: readonly Pair["value"][] }).values.map(plainOf);
}

const recordOf = (pairs: readonly Pair[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plainOf(value)]));

/** Starts one. `answer`: its status, or `never`. */
export async function startReceiver(answer: number | "never" = 200): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const { url } = await serveHttp(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    requests.push({ headers: request.headers, body });
    if (request.url === "/v1/traces" && request.headers["content-type"] === "application/json") {
      const { resourceSpans } = JSON.parse(String(body)) as {
        readonly resourceSpans: readonly {
          readonly resource: { readonly attributes: Pair[] };
          readonly scopeSpans: readonly { readonly spans: RawSpan[] }[];
        }[];
      };
      for (const { resource, scopeSpans } of resourceSpans) {
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          const attributes = recordOf(span.attributes);
          spans.push({ ...span, attributes, resource: recordOf(resource.attributes) });
        }
      }
    }
    if (answer !== "never") response.writeHead(answer).end();
  });
  return { url, spans, requests };
}
