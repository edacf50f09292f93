// Flows and runs of a chosen size.

/** A flow of `count` nodes, ten beside each other. */
export function wideFlow(count) {
  const nodes = Array.from({ length: count }, (_, at) => {
    const value = at < 10 ? `${at}` : `n${at - 10}.value + 1`;
    return `node n${at}: transform {\n  value = ${value}\n}\n`;
  });
  return ["flow 1 wide\n", ...nodes, `output last: int = n${count - 1}.value\n`].join("\n");
}

/** A flow of about so many lines, as people write them: values, conditions, logs, comments and edges. */
export function longFlow(lines) {
  const group = (at) => `# Step ${at}: what is open
node read-${at}: transform {
  value = filter(inputs.orders, order, order > ${at % 100})
}

node check-${at}: condition {
  # Few are not worth a line.
  if = size(read-${at}.value) > ${at % 7}
}

node note-${at}: log {
  message = "\${size(read-${at}.value)} of \${upper(inputs.region)} are open"
}

check-${at}.true -> note-${at}

`;
  const head = `flow 1 long\n\ninput orders: int[]\n\ninput region: string = "eu"\n\n`;
  return head + Array.from({ length: Math.ceil(lines / 17) }, (_, at) => group(at)).join("");
}

/** A flow whose run has about `events` events: five of them for each item of its bodies. */
export function busyFlow(events) {
  const maps = 5;
  const items = Math.ceil(events / maps / 5);
  const map = (at) => `node part${at}: map {
  items = range(${items})
  ${at === 0 ? "" : `@when = part${at - 1}.count > 0`}
  body {
    node twice: transform {
      value = item * 2
    }

    node say: log {
      message = "\${twice.value}"
    }

    output = twice.value
  }
}

`;
  return `flow 1 busy\n\n${Array.from({ length: maps }, (_, at) => map(at)).join("")}`;
}
