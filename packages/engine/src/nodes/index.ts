/** The node types of the engine itself: they steer a run, and reach nothing outside of it. */
import type { NodeType } from "../node-type.ts";
import { condition } from "./condition.ts";
import { confirm } from "./confirm.ts";
import { delay } from "./delay.ts";
import { fail } from "./fail.ts";
import { join } from "./join.ts";
import { log } from "./log.ts";
import { loop } from "./loop.ts";
import { map } from "./map.ts";
import { subflow } from "./subflow.ts";
import { switchType } from "./switch.ts";
import { transform } from "./transform.ts";

/** The types that every registry has, in the order of the documentation. */
export const CONTROL_TYPES: readonly NodeType[] = [
  condition,
  switchType,
  join,
  map,
  loop,
  subflow,
  delay,
  confirm,
  transform,
  log,
  fail,
];
