// Two peers on what every flow does, beside time: is all the work done, and does the answer say so when it is not?
// Prints a sentence for each as JSON lines.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { createState, workload } from "../workloads.js";
import { prepare } from "./rivet.js";

const say = (peer, text) => process.stdout.write(`${JSON.stringify({ peer, text })}\n`);

/** A chain of 1,000 nodes. */
async function longChain() {
  const chain = workload("chain1000");
  const state = createState(chain.deps);
  const errors = new Set();
  const { log, error } = console;
  console.error = (...words) => errors.add(String(words[0]));
  console.log = () => undefined;
  let how = "resolves";
  try {
    await (await prepare(chain))(state);
  } catch (reason) {
    how = `rejects (${String(reason?.message ?? reason).slice(0, 60)})`;
  }
  Object.assign(console, { log, error });
  const ran = state.ran.reduce((sum, n) => sum + n, 0);
  say("rivet", `a chain of 1,000 nodes ${how} after ${ran} of them ran`);
}

/** A join of two branches of which a condition takes one. */
async function oneSidedJoin() {
  const ran = [];
  const node = (name) => () => {
    ran.push(name);
    return {};
  };
  const graph = new StateGraph(Annotation.Root({}));
  for (const name of ["ask", "yes", "no", "join"]) graph.addNode(name, node(name));
  graph.addEdge(START, "ask");
  graph.addConditionalEdges("ask", () => "yes", ["yes", "no"]);
  graph.addEdge(["yes", "no"], "join");
  graph.addEdge("join", END);
  let how = "succeeds";
  try {
    await graph.compile().invoke({});
  } catch (reason) {
    how = `rejects (${reason.message.slice(0, 60)})`;
  }
  const joined = ran.includes("join") ? "runs" : "never runs";
  say(
    "langgraph",
    `after a condition that takes one of two branches their join ${joined}, and the run ${how}`,
  );
}

await longChain();
await oneSidedJoin();
process.exit();
