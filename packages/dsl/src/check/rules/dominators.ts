/**
 * Dominators of an acyclic graph that is built in order: a node is added after all that lead to it. Each keeps its parent
 * and one far jump (Myers' skew-binary ancestors), so both questions take logarithmic time.
 */

/** Where everything starts. */
export const ROOT = 0;

export class DominatorTree {
  readonly #parent: number[] = [ROOT];
  readonly #jump: number[] = [ROOT];
  readonly #depth: number[] = [0];

  /** Adds a node that all of `before` lead to; without any it starts at the root. Answers its number. */
  add(before: readonly number[]): number {
    let parent = before[0] ?? ROOT;
    for (let i = 1; i < before.length; i += 1) parent = this.#common(parent, before[i] ?? ROOT);
    const node = this.#parent.length;
    const jump = this.#jump[parent] ?? ROOT;
    const far = this.#jump[jump] ?? ROOT;
    const even =
      this.#depthOf(parent) - this.#depthOf(jump) === this.#depthOf(jump) - this.#depthOf(far);
    this.#parent.push(parent);
    this.#jump.push(even ? far : parent);
    this.#depth.push(this.#depthOf(parent) + 1);
    return node;
  }

  /** Whether every path from the root to `node` goes through `by` (a node goes through itself). */
  dominates(by: number, node: number): boolean {
    return this.#upTo(node, this.#depthOf(by)) === by;
  }

  #common(a: number, b: number): number {
    const depth = Math.min(this.#depthOf(a), this.#depthOf(b));
    let x = this.#upTo(a, depth);
    let y = this.#upTo(b, depth);
    while (x !== y) {
      const far = this.#jump[x] !== this.#jump[y];
      x = (far ? this.#jump[x] : this.#parent[x]) ?? ROOT;
      y = (far ? this.#jump[y] : this.#parent[y]) ?? ROOT;
    }
    return x;
  }

  #upTo(node: number, depth: number): number {
    let at = node;
    while (this.#depthOf(at) > depth) {
      const jump = this.#jump[at] ?? ROOT;
      at = this.#depthOf(jump) >= depth ? jump : (this.#parent[at] ?? ROOT);
    }
    return at;
  }

  #depthOf(node: number): number {
    return this.#depth[node] ?? 0;
  }
}
