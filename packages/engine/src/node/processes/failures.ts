/** The errors of the programs' port. They name programs and folders as the flow wrote them, never arguments or variables. */
import { NodeError } from "@millrace/contracts";

export function denied(message: string): NodeError {
  return new NodeError("program_denied", message, { reason: "denied", sent: false });
}

export function notStarted(message: string): NodeError {
  return new NodeError("spawn_failed", message, { reason: "output", sent: false });
}
