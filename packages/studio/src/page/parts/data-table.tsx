/** A table of a list: named, with a row of column heads. */
import type { ComponentChildren } from "preact";
import "./data-table.css";

/** One column. */
export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** The cell names its row. */
  readonly isHead?: boolean;
  /** Its head is there for screen readers alone. */
  readonly isUntitled?: boolean;
  /** Numbers stand at the end of their cell. */
  readonly isNumber?: boolean;
}

/** The last column of a table: buttons for what is done to a row. */
export function actionsColumn<T>(buttons: (row: T) => ComponentChildren): Column<T> {
  const cell = (row: T) => <div class="row-actions">{buttons(row)}</div>;
  return { title: "Actions", isUntitled: true, cell };
}

/** A table. `keyOf`: the identity of a row. */
export function DataTable<T>({
  name,
  columns,
  rows,
  keyOf,
}: {
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}): ComponentChildren {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard
    <section class="table-scroll" tabIndex={0} aria-label={`${name}, scrollable`}>
      <table aria-label={name}>
        <thead>
          <tr>
            {columns.map(({ title, isUntitled, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : undefined}>
                <span class={isUntitled ? "visually-hidden" : undefined}>{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isHead, isNumber }) =>
                isHead ? (
                  <th key={title} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} class={isNumber ? "number" : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
