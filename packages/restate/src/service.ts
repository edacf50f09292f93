/** Names under which Restate knows the drives of runs. */

/** The virtual object; its key is the id of a run. */
export const SERVICE = "millrace_run";
export const HANDLER = "drive";

/**
 * Path below the endpoint that is registered. A handler that does something else with what Restate has stored gets the next
 * version: a deployment of its own, while the calls of the old one end where they began.
 */
export const VERSION_PATH = "/v1";
