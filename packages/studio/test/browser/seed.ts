/** A server with something on every screen: flows, runs in every state, questions and triggers. */
import type { Client } from "@millrace/client";

/** Keeps an eye on a page: control flow, a person's answer, a body and an error port. */
const WATCH = `# Looks at a list of pages and asks before it reports.
flow 1 site-watch

input pages: string[] = ["home", "prices", "terms"]

input limit: int = 2

node visit: map {
  items = inputs.pages

  body {
    node size: transform {
      value = size(item)
    }

    output = size.value
  }
}

node long: transform {
  value = filter(visit.items, each, each > inputs.limit)
}

node ask: confirm {
  prompt = "Report \${size(long.value)} pages?"
}

node report: log {
  message = "Reported \${size(long.value)} pages"
}

node dropped: log {
  message = "Nothing was reported"
}

ask.approved -> report
ask.rejected -> dropped

output pages: int[] = long.value
`;

/** Ends well at once. */
const HELLO = `# The smallest flow.
flow 1 hello

input name: string = "world"

node greeting: transform {
  value = "Hello, \${inputs.name}!"
}

node say: log {
  message = greeting.value
}

output text: string = greeting.value
`;

/** Fails at its second node. */
const BROKEN = `# Fails, so that there is something to look at.
flow 1 nightly-import

node rows: transform {
  value = [3, 1, 2]
}

node stop: fail {
  message = "the source has no rows for today"
}

rows -> stop
`;

/** Ids of what `seed` made. */
export interface Seeded {
  readonly succeeded: string;
  readonly other: string;
  readonly failed: string;
  readonly paused: string;
}

/** Fills a server. */
export async function seed(client: Client): Promise<Seeded> {
  for (const [slug, dsl, description] of [
    ["hello", HELLO, "The smallest flow: one input, one value, one line in the log"],
    ["nightly-import", BROKEN, "Reads the rows of the day"],
    ["site-watch", WATCH, "Tells me when a page changes"],
  ] as const) {
    await client.invoke("save_template", { slug, name: titleOf(slug), description, dsl });
  }
  const run = async (template: string, inputs = {}): Promise<string> => {
    const { runId } = await client.invoke("start_run", {
      template,
      inputs,
      options: { tags: { team: "web" } },
    });
    for await (const event of client.runEvents(runId)) if (event.kind === "run.paused") break;
    return runId;
  };
  const seeded = {
    succeeded: await run("hello", { name: "Ada" }),
    other: await run("hello", { name: "Grace" }),
    failed: await run("nightly-import"),
    paused: await run("site-watch"),
  };
  await client.invoke("create_schedule", {
    template: "hello",
    cron: "0 7 * * 1-5",
    timezone: "Europe/Berlin",
  });
  return seeded;
}

function titleOf(slug: string): string {
  const words = slug.replaceAll("-", " ");
  return `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
