/** What the suite of stores is given. */
import type { Store } from "@millrace/store";

/** What a test asks of a store. `now`: the clock that it must go by, epoch milliseconds; default its own. */
export interface StoreOpening {
  readonly now?: () => number;
  readonly keepsContent?: () => boolean;
}

/** Where one store is: a folder, a schema of a database. */
export interface StorePlace {
  /** Opens it, beside who has it open already. */
  open(options?: StoreOpening): Promise<Store>;
}

/** What the tests of one kind of store are made with. Every store is closed after its test. */
export interface StoreBench {
  /** A store of the test's own. */
  newStore(options?: StoreOpening): Promise<Store>;
  /** A test that opens a store again; there is none where nothing outlives the closing. */
  testRestart(name: string, body: (place: StorePlace) => Promise<void>): void;
}
