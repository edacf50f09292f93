/** Errors of requests and answers of a service. */
import { NodeError } from "@millrace/contracts";

/** An argument that cannot be sent; `where` names it, the message never quotes it. */
export function invalidArgument(where: string, problem: string): NodeError {
  return new NodeError("field_invalid", `${where}: ${problem}`, { reason: "input", sent: false });
}

/** An answer that is not what the descriptor says. */
export function undecodable(message: string): NodeError {
  return new NodeError("decode_failed", message, { reason: "output", sent: true });
}
