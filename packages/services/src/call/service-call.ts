/**
 * `service.call`: one operation of a connected service.
 *   C1  Arguments are checked before a credential is asked for, scopes before anything is sent.
 *   C2  Nothing of a failure's body is in an event but a log at debug, without known secrets.
 */
import {
  type Effect,
  NodeError,
  operationEffect,
  type ServiceOperation,
} from "@millrace/contracts";
import type { CoreContext, Fields, NodeType, ServiceLink, ServiceOf } from "@millrace/engine";
import { schemaProblems } from "@millrace/engine/pack";
import { readAnswer } from "../http/answer.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { invalidArgument } from "../refusals.ts";
import { buildServiceRequest, operationOf, type ServiceRequest } from "./build-request.ts";
import { failureInAnswer, failureOfAnswer, mayRetry } from "./failed-answer.ts";
import {
  MAX_PAGES,
  type ServiceCallFields,
  type ServiceCallRecord,
  serviceCallEntry,
} from "./fields.ts";
import type { Answer, PageTarget } from "./pages.ts";

const TIMEOUT_MS = 30_000; // as long as people wait for an answer of any service
const MAX_BYTES = 10_485_760; // a page of an API; an operation that answers with more says so
const MAX_REDIRECTS = 5;
const SHOWN_BODY_UNITS = 2_048; // of a failure, in the log at debug

/** `service.call`: an operation of a connected service, by its descriptor. */
export const serviceCall: NodeType = {
  core: true,
  ownsTimeout: true, // whether a call that took too long may be repeated is for the operation to say
  effectOf: callEffect,
  idempotentOf: isIdempotentCall,
  entry: serviceCallEntry,
  run: (fields, ctx) => new Call(fields, ctx).run(),
};

class Call {
  readonly #fields: ServiceCallFields;
  readonly #ctx: CoreContext;
  readonly #link: ServiceLink;
  readonly #operation: ServiceOperation;
  readonly #host: string;

  constructor(fields: Fields, ctx: CoreContext) {
    this.#fields = fields as unknown as ServiceCallFields;
    this.#ctx = ctx;
    this.#link = ctx.link(this.#fields.connection);
    this.#operation = operationOf(this.#link.integration, this.#fields.operation);
    this.#host = new URL(this.#link.integration.baseUrl).host;
  }

  async run(): Promise<ServiceCallRecord> {
    const timeoutMs = this.#ctx.timeoutMs ?? this.#operation.timeoutMs ?? TIMEOUT_MS;
    try {
      return await this.#ctx.within(timeoutMs, (signal) => this.#answer(signal));
    } catch (error) {
      throw this.#told(error);
    }
  }

  async #answer(signal: AbortSignal): Promise<ServiceCallRecord> {
    const { pages = 1, maxItems } = this.#fields;
    const most = maxItems ?? undefined;
    if (pages === 1 && most === undefined) {
      const { status, headers, body } = await this.#page({ query: {} }, signal);
      return { status, headers, body };
    }
    const { pagination } = this.#operation;
    if (pagination === undefined) {
      throw invalidArgument("pages", `${this.#operation.id} has no pages`);
    }
    const { collectPages } = await import("./pages.ts");
    const found = await collectPages(pagination, {
      maxPages: pages === "all" ? MAX_PAGES : pages,
      maxItems: most,
      maxBytes: this.#ctx.limit("outputBytes"),
      args: this.#fields.args ?? {},
      baseUrl: this.#link.integration.baseUrl,
      fetchPage: (target) => this.#page(target, signal),
    });
    const { status, headers, body } = found.last;
    const { items, pageCount, truncated } = found;
    return { status, headers, body, items, pageCount, truncated };
  }

  async #page(target: PageTarget, signal: AbortSignal): Promise<Answer> {
    const request = this.#request(target);
    const { method, url, headers, body } = request;
    const scopes = [...this.#link.scopes, ...(this.#operation.scopes ?? [])];
    const response = await this.#link.send(
      {
        url,
        headers,
        init: {
          method,
          ...(body !== undefined && { body }),
          maxBytes: this.#operation.maxBytes ?? MAX_BYTES,
          maxRedirects: method === "GET" || method === "HEAD" ? MAX_REDIRECTS : 0,
          sameOrigin: true,
        },
      },
      { scopes, signal },
    );
    const { slug, integration } = this.#link;
    const place = { slug, host: this.#host, operation: this.#operation, integration };
    if (!response.ok) {
      const failed = await failureOfAnswer(response, { ...place, scopes, nowMs: this.#ctx.now() });
      this.#logBody(failed.body, failed.isWhole);
      throw failed.error;
    }
    const answer = await readAnswer(response, this.#operation.resultType ?? "json");
    const failure = failureInAnswer(answer, place);
    if (failure !== undefined) {
      this.#logBody(JSON.stringify(answer.body), true);
      throw failure;
    }
    this.#checkResult(answer);
    return answer;
  }

  #logBody(body: string, isWhole: boolean): void {
    if (body === "") return;
    this.#ctx.log("debug", this.#ctx.withoutSecrets(body, SHOWN_BODY_UNITS, isWhole));
  }

  #request(target: PageTarget): ServiceRequest {
    const { integration, slug } = this.#link;
    const key = idempotencyKeyOf(this.#ctx);
    const request = buildServiceRequest(integration, {
      operation: this.#operation.id,
      args: { ...this.#fields.args, ...("body" in target && target.body) },
      connection: slug,
      idempotencyKey: key.text,
      ...("query" in target && { page: target.query }),
    });
    const headers = key.isWritten
      ? { "idempotency-key": key.text, ...request.headers }
      : request.headers;
    return { ...request, headers, ...("url" in target && { url: target.url }) };
  }

  #checkResult({ body }: Answer): void {
    const { result, strictResult, method, id } = this.#operation;
    if (result === undefined || method === "HEAD") return;
    const problem = schemaProblems(result, body)[0];
    if (problem === undefined) return;
    const text = `${id}: body${problem.pointer} ${problem.message}`;
    if (strictResult === true) throw new NodeError("output_schema", text, { reason: "output" });
    this.#ctx.warn("service_result_mismatch", text);
  }

  /** Faults of the network, with what the operation says of repeating. */
  #told(error: unknown): unknown {
    if (!NodeError.isInstance(error)) return error;
    const { code, message, sent, cause } = error;
    const what = FAULTS[code];
    if (what === undefined || cause !== undefined) return error; // with a cause it is one of the token endpoint
    const detail = /\(([A-Za-z0-9_ ]+)\)$|within (\d+ ms)/.exec(message);
    const shown = detail === null ? "" : ` (${detail[1] ?? detail[2]})`;
    return new NodeError(code, `${this.#operation.id}: ${what}${shown}: ${this.#host}`, {
      reason: code === "timeout" ? "timeout" : "network",
      retryable: code !== "tls" && mayRetry(this.#operation, code === "timeout" ? code : "network"),
      ...(sent !== undefined && { sent }),
    });
  }
}

const FAULTS: { readonly [code: string]: string } = {
  network: "the connection failed",
  dns: "the name cannot be resolved",
  tls: "there is no trusted TLS connection",
  timeout: "no whole answer in time",
};

/** Effect of a call; of one whose operation is not known `write`, as it will fail before it does anything. */
function callEffect(fields: Fields, serviceOf: ServiceOf): Effect {
  const operation = operationOfCall(fields, serviceOf);
  return operation === undefined ? "write" : operationEffect(operation);
}

/** Whether the same call twice has one effect: PUT, DELETE, and whatever takes an idempotency key. */
function isIdempotentCall(fields: Fields, serviceOf: ServiceOf): boolean {
  const operation = operationOfCall(fields, serviceOf);
  if (operation === undefined) return false;
  const { method, idempotencyHeader } = operation;
  return method === "PUT" || method === "DELETE" || idempotencyHeader !== undefined;
}

function operationOfCall(fields: Fields, serviceOf: ServiceOf): ServiceOperation | undefined {
  const { connection, operation: id } = fields;
  if (typeof connection !== "string") return undefined;
  const operations = serviceOf(connection)?.serviceIntegration.operations;
  return operations?.find((operation) => operation.id === id);
}
