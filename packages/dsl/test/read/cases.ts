/** Texts with one thing in them. */

/** A text below its header. */
export function flow(text: string): string {
  return `flow 1 x\n\n${text}`;
}

/** A node with one field of this value. */
export function node(value: string): string {
  return flow(`node a: t {\n  v = ${value}\n}\n`);
}
