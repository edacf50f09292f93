/** From the parts of a request, or the body of an invocation, to checked arguments of a command. */
export { bindArgs } from "./bind-args.ts";
export { escapeSegment, MAX_ERRORS, parseArgs } from "./parse-args.ts";
export { checkRunInput } from "./run-request.ts";
