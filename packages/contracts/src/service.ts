/** A third-party service as data: base URL, auth scheme, operations. Nothing of it is code. */

import type { JsonObject, JsonSchema } from "./json.ts";
import type { Effect } from "./permissions.ts";

/** How a credential is sent. */
export type AuthScheme = "none" | "bearer" | "basic" | "apiKey" | "oauth2";

/** The auth part of a descriptor; fields beside `scheme` belong to one scheme each. */
export type ServiceAuth =
  | { readonly scheme: "none" | "bearer" | "basic" }
  | {
      readonly scheme: "apiKey";
      readonly in: "header" | "query";
      readonly name: string;
      readonly prefix?: string;
    }
  | {
      readonly scheme: "oauth2";
      readonly authorizeUrl: string;
      readonly tokenUrl: string;
      readonly revocationUrl?: string;
      readonly deviceUrl?: string;
      readonly scopes: readonly string[];
      /** Public clients only; never a secret. */
      readonly clientId?: string;
      /** How the client shows itself at the token URL; default `post`. */
      readonly clientAuth?: "post" | "basic" | "none";
      readonly pkce?: boolean;
      readonly issuer?: string;
      readonly resource?: string;
      readonly redirect?: { readonly port?: number; readonly path?: string };
      readonly extraParams?: { readonly [name: string]: string };
      readonly lenient?: boolean;
    };

/** How pages of a GET follow each other; `next` and `items` are JSON Pointers. */
export type Pagination =
  | {
      readonly kind: "cursor";
      readonly param: string;
      readonly next: string;
      readonly items: string;
    }
  | {
      readonly kind: "page";
      readonly param: string;
      readonly start?: number;
      readonly size?: number;
      readonly items: string;
    }
  | {
      readonly kind: "offset";
      readonly param: string;
      readonly limitParam: string;
      readonly limit: number;
      readonly items: string;
    }
  | { readonly kind: "link"; readonly items?: string };

/** One operation. `path` holds `{name}` holes, each percent-encoded. */
export interface ServiceOperation {
  readonly id: string;
  readonly title?: string;
  readonly summary?: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly effect?: Effect;
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly headers?: JsonSchema;
  readonly body?: {
    readonly contentType:
      | "application/json"
      | "application/x-www-form-urlencoded"
      | "text/plain"
      | "application/octet-stream";
    readonly schema?: JsonSchema;
    readonly required?: boolean;
  };
  readonly result?: JsonSchema;
  readonly resultType?: "json" | "text" | "base64";
  readonly maxBytes?: number;
  readonly strictResult?: boolean;
  readonly pagination?: Pagination;
  readonly retryOn?: readonly string[];
  readonly idempotencyHeader?: string;
  readonly scopes?: readonly string[];
  readonly timeoutMs?: number;
}

/**
 * The `serviceIntegration` descriptor of a service catalog entry.
 * @see specification, "Service integration descriptor"
 */
export interface ServiceIntegration {
  readonly baseUrl: string;
  readonly auth: ServiceAuth;
  readonly operations: readonly ServiceOperation[];
}

/** What `defineService` takes. */
export interface ServiceSpec {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly serviceIntegration: ServiceIntegration;
  readonly meta?: JsonObject;
}
