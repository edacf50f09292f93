/** Starts the process of a model. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Starts `runner.js` with a channel and with stdout and stderr as pipes. It inherits only the variables it needs. */
export type ForkRunner = () => ChildProcess;

/** Variables that the engine and the system's loader read; whatever else this process has, such as keys, stays here. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SystemRoot", "USERPROFILE"];

/** The runner of this package. */
export const forkRunner: ForkRunner = () => {
  const env = Object.fromEntries(
    PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  return fork(fileURLToPath(new URL("./runner.js", import.meta.url)), [], {
    env,
    execArgv: [],
    serialization: "json",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
};
