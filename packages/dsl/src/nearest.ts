/** Every package says "did you mean" with the same distance between names. */
export { nearestName } from "@millrace/contracts/options";
