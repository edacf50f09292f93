/** Small flows for the tests. */

/** Succeeds at once. */
export const HELLO = `flow 1 hello {
  title = "Hello"
}

input name: string = "world"

node greeting: transform {
  value = "Hello, \${inputs.name}!"
}

output text: string = greeting.value
`;

/** Fails. */
export const FAILS = `flow 1 fails

node stop: fail {
  message = "Nothing is in order"
}
`;

/** Waits for a person; any answer does. */
export const ASK = `flow 1 ask

node ask: confirm {
  prompt = "Go on?"
}

node yes: log {
  message = "yes"
}

node no: log {
  message = "no"
}

ask.approved -> yes
ask.rejected -> no
`;
