/** An error answer of the runner, in the shape of the OpenAI API. */

/** Refuses a request: `code` is for programs, `message` for people and without anything that was sent. */
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const refused = (message) => new Refusal(400, "invalid_request", message);

/** The body of an answer that is an error. */
export function errorBody(error) {
  if (!(error instanceof Refusal)) {
    return { error: { message: "the engine failed", type: "server_error", code: "engine_failed" } };
  }
  const { status, code, message } = error;
  return {
    error: { message, type: status < 500 ? "invalid_request_error" : "server_error", code },
  };
}
