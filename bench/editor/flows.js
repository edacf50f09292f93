// A flow of about so many lines, as people write them: requests, transforms with macros, conditions, logs, comments and edges.
// It is valid against `catalog`.
import { createRegistry } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";

export const catalog = createRegistry([nodePack(), servicesPack()]).catalog();

const LINES = 23; // of one group

const group = (n) => `# Step ${n}: what the shop says
node fetch-${n}: http.request {
  url = "\${inputs.base}/orders/${n}?region=\${inputs.region}"
  headers = { accept: "application/json", x-step: "${n}" }
  @timeout = 30s
  @retry = { max: 3, backoff: "exponential", delay: 500ms }
}

node open-${n}: transform {
  # Only what can still be paid.
  value = filter(fetch-${n}.body.orders, order, order.status == "open" && order.total > ${n})
}

node check-${n}: condition {
  if = size(open-${n}) > ${n % 7}
}

node note-${n}: log {
  message = "\${size(open-${n})} of \${upper(inputs.region)} are open"
}

check-${n}.true -> note-${n}

`;

const HEAD = `flow 1 shop {
  title = "What the shop says"
}

input base: string = "https://shop.test"

input region: string = "eu"

`;

/** The text of a flow. */
export function flowOf(lines) {
  return HEAD + Array.from({ length: Math.ceil(lines / LINES) }, (_, n) => group(n)).join("");
}
