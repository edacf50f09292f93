/** One list of public names. */
export { type AcceptOptions, acceptOAuthCode } from "./accept.ts";
export { type ConnectOptions, connectService } from "./connect.ts";
export { bindLoopback, type LoopbackListener } from "./listener.ts";
export type { LoopbackPage, LoopbackPageName } from "./page.ts";
export { isState } from "./redirect.ts";
