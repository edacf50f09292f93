/** The `http` adapter: one request, checked and decoded. It runs wherever the host offers `ctx.fetch`. */
import {
  type ActionAdapterDefinition,
  type ActionDefinition,
  defineAction,
  defineActionAdapter,
  type Effect,
  type NodeContext,
  operationEffect,
  type ResponseLike,
  type ServiceOperation,
} from "@millrace/contracts";
import { OUT_PORT } from "@millrace/engine/pack";
import { readAnswer } from "./answer.ts";
import { type HttpFields, type HttpRecord, httpFields, httpRecord } from "./fields.ts";
import { buildRequest } from "./request.ts";
import { checkStatus } from "./status.ts";

const DEFAULT_REDIRECTS = 5;
const DEFAULT_MAX_BYTES = 10_485_760; // a page or an API answer; larger ones say so

const request: ActionDefinition = defineAction<HttpFields, HttpRecord>({
  name: "request",
  title: "HTTP request",
  summary: "Sends one HTTP request and reads the answer.",
  fields: httpFields,
  output: httpRecord,
  effect: "write", // by method where the fields are known, see `requestEffect`
  ports: [OUT_PORT],
  needs: { connection: "connection" },
  category: "network",
  tags: ["http", "api", "fetch"],
  examples: [
    {
      title: "Read JSON",
      fields: { url: "https://rates.example/latest", query: { base: "EUR" } },
      output: {
        status: 200,
        headers: { "content-type": "application/json" },
        body: { base: "EUR" },
        url: "https://rates.example/latest?base=EUR",
        bytes: 14,
      },
    },
    {
      title: "Send JSON",
      fields: { url: "https://api.example/orders", method: "POST", body: { id: 7 } },
      output: { status: 201, headers: {}, body: null, url: "https://api.example/orders", bytes: 0 },
    },
  ],
  async run(fields, ctx) {
    const response = await send(fields, ctx);
    await checkStatus(response, { ok: fields.ok ?? ["2xx"], nowMs: ctx.now() });
    return readAnswer(response, fields.response ?? "auto");
  },
});

/** Requests over HTTP. Errors: `http_status egress_denied network dns tls response_too_large decode_failed`. */
export const httpAdapter: ActionAdapterDefinition = defineActionAdapter({
  id: "http",
  title: "HTTP",
  actions: [request],
});

async function send(fields: HttpFields, ctx: NodeContext): Promise<ResponseLike> {
  const { url, init } = buildRequest(fields, ctx);
  const limits = {
    maxRedirects: fields.redirects ?? DEFAULT_REDIRECTS,
    maxBytes: fields.maxBytes ?? DEFAULT_MAX_BYTES,
  };
  if (fields.connection === undefined || fields.connection === null) {
    return ctx.fetch(url, { ...init, ...limits });
  }
  const connection = await ctx.credentials.connection(fields.connection);
  return connection.fetch(url, { ...init, ...limits });
}

/** That of the method; `write` for one that is not known yet. */
export function requestEffect(fields: { readonly [name: string]: unknown }): Effect {
  const method = "method" in fields ? fields["method"] : "GET";
  return operationEffect({ method: method as ServiceOperation["method"] });
}
