/** Small flows. */

/** Succeeds at once; gives `text`. */
export const HELLO = `flow 1 hello {
  title = "Hello"
}

input name: string = "world"

node greeting: transform {
  value = "Hello, \${inputs.name}!"
}

node say: log {
  message = greeting.value
}

greeting -> say

output text: string = greeting.value
`;

/** Waits for a person; the answer has a schema. */
export const ASK = `flow 1 ask

node ask: confirm {
  prompt = "Go on?"
  schema = { type: "object", properties: { reason: { type: "string", minLength: 3 } }, required: ["reason"] }
}

node yes: transform {
  value = ask.value.reason
}

node no: log {
  message = "not now"
}

ask.approved -> yes
ask.rejected -> no

output reason: string? = yes?.value
`;

/** Waits for a person; any answer does. */
export const ASK_PLAINLY = `flow 1 ask-plainly

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

/** Runs until it is cancelled. */
export const SLEEP = `flow 1 sleep

node nap: delay {
  for = 1h
}
`;

/** Makes three events for each of `items`. */
export const MANY = `flow 1 many

input items: int[]

node each: map {
  items = inputs.items
  body {
    node say: log {
      message = "item"
    }
  }
}
`;

/** Logs `text` once for each of `items`. */
export const LOUD = `flow 1 loud

input items: int[]

input text: string

node each: map {
  items = inputs.items
  body {
    node say: log {
      message = inputs.text
    }
  }
}
`;
