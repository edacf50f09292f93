// What the page costs in Chromium, beside its bars. What a case is says ../rounds.js.
import { cases as canvas } from "./canvas-cases.js";
import { cases as live } from "./live-cases.js";
import { cases as opening } from "./opening-cases.js";
import { cases as typing } from "./typing-cases.js";

export const cases = { ...opening, ...canvas, ...live, ...typing };

/** A case takes many samples in its one round. */
export const roundsOf = () => 1;
