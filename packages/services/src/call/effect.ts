/** What a call does outside, known from its operation. */
import { type Effect, operationEffect, type ServiceOperation } from "@millrace/contracts";
import type { Fields, ServiceOf } from "@millrace/engine";

/** Effect of a call; of one whose operation is not known `write`, as it will fail before it does anything. */
export function callEffect(fields: Fields, serviceOf: ServiceOf): Effect {
  const operation = operationOfCall(fields, serviceOf);
  return operation === undefined ? "write" : operationEffect(operation);
}

/** Whether the same call twice has one effect: PUT, DELETE, and whatever takes an idempotency key. */
export function isIdempotentCall(fields: Fields, serviceOf: ServiceOf): boolean {
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
