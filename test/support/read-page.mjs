// Starts `millrace serve`, fetches the page and every file that it names, and writes what was answered as one line of JSON.
//   node read-page.mjs MILLRACE_JS
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A file that the build of the page has named after what is in it. */
const NAMED = /[\w.-]+-[\w-]{8}\.(?:css|js|svg)\b/g;

const [millrace] = process.argv.slice(2);
const server = spawn(process.execPath, [millrace, "serve", "--port", "0", "--json"], {
  stdio: ["ignore", "pipe", "inherit"],
});
for await (const line of createInterface({ input: server.stdout })) {
  const { kind, url, studio } = JSON.parse(line);
  if (kind !== "listening") continue;
  try {
    const answers = await readPage(url, studio);
    const outside = await fetch("http://192.0.2.1/").then(
      ({ status }) => status,
      ({ cause }) => cause.code,
    );
    process.stdout.write(`${JSON.stringify({ answers, outside })}\n`);
  } finally {
    server.kill("SIGTERM");
  }
}

async function readPage(url, studio) {
  const answers = {};
  const paths = new Set([new URL(studio).pathname]);
  for (const path of paths) {
    const response = await fetch(new URL(path, url));
    const body = await response.text();
    answers[path] = { status: response.status, headers: Object.fromEntries(response.headers) };
    for (const [name] of body.matchAll(NAMED)) paths.add(`/studio/assets/${name}`);
  }
  return answers;
}
