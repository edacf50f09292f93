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
export const ASK = `flow 1 ask {
  title = "Ask before going on"
}

node ask: confirm {
  prompt = "Go on?"
  @timeout = 2h
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

/** Waits for a person, who gives a reason. */
export const ASK_REASON = `flow 1 ask-reason

node ask: confirm {
  prompt = "Why?"
  schema = { type: "object", properties: { reason: { type: "string", minLength: 3 } }, required: ["reason"] }
}

node yes: transform {
  value = ask.value.reason
}

node no: log {
  message = "no"
}

ask.approved -> yes
ask.rejected -> no

output reason: string? = yes?.value
`;

/** Doubles each of `items`, and mails when there is more than one. */
export const DOUBLE = `flow 1 double

input items: int[]

node fixed: transform {
  value = "always"
}

node each: map {
  items = inputs.items

  body {
    node twice: transform {
      value = item * 2
    }

    output = twice.value
  }
}

node many: condition {
  if = size(each.items) > 1
}

node mail: log {
  message = "many"
}

many.true -> mail

output all: int[] = each.items
`;

/** Waits for an hour, with a node that waits for it. */
export const HOUR = `flow 1 hour

node wait: delay {
  for = 1h
}

node after: log {
  message = "an hour later"
}

wait -> after
`;

/** Counts, asks a gate, and counts again: more than fifty events, and it does not end before the gate is open. */
export const GATED = `flow 1 gated

input gate: uri

node items: map {
  items = range(20)
  body {
    node number: transform {
      value = item + 1
    }

    output = number.value
  }
}

node gate: http.request {
  url = inputs.gate
  response = "text"
}

node more: map {
  items = items.items
  @when = gate.status == 200
  body {
    node number: transform {
      value = item
    }

    output = number.value
  }
}

items -> gate

output sum: int = sum(more.items)
`;

/** Three nodes, the last of which depends on an input. */
export const STEPS = `flow 1 steps

input fixed: int = 1

input factor: int = 2

node first: transform {
  value = inputs.fixed
}

node second: transform {
  value = first.value + 1
}

node third: transform {
  value = second.value * inputs.factor
}

output result: int = third.value
`;

/** A model writes an answer. */
export const TELL = `flow 1 tell

node tell: ai {
  provider = "slow"
  modelId = "turtle"
  task = "generate"
  input = "Tell a story"
}

output story: string = tell.text
`;
