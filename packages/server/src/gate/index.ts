/** Who is let in: target, headers, host, origin, token. */
export { AuthFailures } from "./auth-failures.ts";
export { createGate, type Gate, type Passage, type RawRequest } from "./gate.ts";
export { isLoopback, parseHost } from "./target.ts";
export { type CallerIdentity, parseToken, type Role, type TokenIdentity } from "./tokens.ts";
