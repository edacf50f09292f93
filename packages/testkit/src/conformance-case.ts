/** One case of a suite: any runner takes it. */
export interface ConformanceCase {
  /** A sentence of behaviour. */
  readonly name: string;
  /** Resolves when it holds; rejects with what does not. */
  readonly run: () => Promise<void>;
}
