/** Model files of tests, small and whole. */
export {
  type ArrayValue,
  type GgufParts,
  type Pair,
  type Tensor,
  VALUE,
  writeGguf,
} from "./gguf-writer.ts";
export { type TinyOptions, tinyGguf } from "./tiny-gguf.ts";
