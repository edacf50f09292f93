/** The node types `service.call` and `http.request`. */
import type { NodeType } from "@millrace/engine";
import { typesOf } from "@millrace/engine/pack";
import { serviceCall } from "./call/service-call.ts";
import { httpAdapter, requestEffect } from "./http/http-request.ts";

const HTTP_SLOTS = 64; // requests at once in an engine

/**
 * Node types for `createRegistry([servicesPack()])`. What they connect to is `services`, `credentials` and `egress` of
 * `createEngine`.
 */
export function servicesPack(): readonly NodeType[] {
  const http = typesOf(httpAdapter);
  return [
    serviceCall,
    ...http.map((type) => ({ ...type, effectOf: requestEffect, slots: HTTP_SLOTS })),
  ];
}
