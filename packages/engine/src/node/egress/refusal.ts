/** The errors of the egress client. They name hosts that the caller wrote, never an address that was resolved. */
import { NodeError } from "@millrace/contracts";

/** Why a request is refused; part of the message of `egress_denied`. */
export type EgressRuleName =
  | "url"
  | "scheme"
  | "userinfo"
  | "method"
  | "header"
  | "deny-list"
  | "not-granted"
  | "self-origin"
  | "local-name"
  | "private-address"
  | "metadata-address"
  | "address-changed"
  | "redirects"
  | "redirect-downgrade"
  | "connection-origin";

/** `egress_denied`, as `<rule>: <sentence>`. */
export function refused(rule: EgressRuleName, message: string, sent = false): NodeError {
  return new NodeError("egress_denied", `${rule}: ${message}`, { reason: "denied", sent });
}

export function timedOut(phase: "connect" | "idle" | "total", ms: number, host: string): NodeError {
  const what = {
    connect: `no connection to ${host}`,
    idle: `no data from ${host}`,
    total: `no whole answer from ${host}`,
  }[phase];
  return new NodeError("timeout", `${what} within ${ms} ms`, {
    reason: "timeout",
    retryable: true,
    sent: phase !== "connect",
  });
}

export function dnsFailed(host: string, cause: unknown): NodeError {
  return new NodeError("dns", `the name ${host} cannot be resolved (${codeOf(cause)})`, {
    reason: "network",
    retryable: true,
    sent: false,
  });
}

export function networkFailed(host: string, cause: unknown, sent: boolean): NodeError {
  return new NodeError("network", `the connection to ${host} failed (${codeOf(cause)})`, {
    reason: "network",
    retryable: true,
    sent,
  });
}

export function tlsFailed(host: string, cause: unknown): NodeError {
  return new NodeError("tls", `no trusted TLS connection to ${host} (${codeOf(cause)})`, {
    reason: "network",
    sent: false,
  });
}

export function tooLarge(message: string): NodeError {
  return new NodeError("response_too_large", message, { reason: "limit", sent: true });
}

export function undecodable(message: string): NodeError {
  return new NodeError("decode_failed", message, { reason: "output", sent: true });
}

function codeOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "no code";
}
