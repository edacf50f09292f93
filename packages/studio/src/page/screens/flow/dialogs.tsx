/** Small dialogs of a flow: another name for a node, and what keys do. */
import type { CatalogEntry } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { NewNode } from "../../../worker/protocol.ts";
import { Dialog, DialogActions, FormDialog } from "../../parts/dialog.tsx";
import { effectMeaning } from "../../parts/effect.tsx";
import { TextField } from "../../parts/fields.tsx";
import { Prose } from "../../parts/prose.tsx";
import { useAction } from "../../state/use-action.ts";
import { newFields } from "./new-fields.ts";

/** Asks for another name of a node; everything that names it follows. */
export function RenameDialog({
  id,
  onRename,
  onClose,
}: {
  readonly id: string;
  readonly onRename: (to: string) => Promise<void>;
  readonly onClose: () => void;
}): ComponentChildren {
  const [name, setName] = useState(id);
  const rename = useAction(() => onRename(name.trim()));
  return (
    <FormDialog
      title="Rename node"
      action="Rename"
      work={rename}
      isOff={name.trim() === id}
      onClose={onClose}
    >
      <TextField label="New name" autofocus required value={name} onTyped={setName} />
      <p class="muted">References and edges follow the name.</p>
    </FormDialog>
  );
}

/** Asks which node is added. `taken`: names that are in use. */
export function AddNodeDialog({
  entries,
  taken,
  onAdd,
  onClose,
}: {
  readonly entries: readonly CatalogEntry[];
  readonly taken: readonly string[];
  readonly onAdd: (node: NewNode) => Promise<void>;
  readonly onClose: () => void;
}): ComponentChildren {
  const [filter, setFilter] = useState("");
  const [type, setType] = useState("");
  const [name, setName] = useState("");
  const groups = useMemo(() => grouped(entries, filter), [entries, filter]);
  const found = groups.flatMap(([, each]) => each);
  const chosen = found.some((each) => each.type === type) ? type : bestOf(found, filter);
  const entry = found.find((each) => each.type === chosen);
  const id = name.trim() === "" ? freeName(chosen, taken) : name.trim();
  const add = useAction(async () => {
    if (entry === undefined) return;
    const { type: chosenType, body = false } = entry;
    await onAdd({ id, type: chosenType, fields: newFields(entry), hasBody: body });
  });
  return (
    <FormDialog title="Add node" action="Add" work={add} isOff={chosen === ""} onClose={onClose}>
      <TextField label="Search" type="search" autofocus value={filter} onTyped={setFilter} />
      <label>
        Type
        <select
          size={8}
          required
          value={chosen}
          onChange={({ currentTarget: { value } }) => setType(value)}
        >
          {groups.map(([category, found]) => (
            <optgroup key={category} label={category}>
              {found.map((each) => (
                <option key={each.type} value={each.type}>
                  {each.type}: {shortOf(each.summary)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      {entry && (
        <p>
          <Prose text={entry.summary} />{" "}
          <span class="muted">
            Effect: {entry.effect}, {effectMeaning(entry.effect)}.
          </span>
        </p>
      )}
      <TextField label="Name" placeholder={id} value={name} onTyped={setName} />
    </FormDialog>
  );
}

/** First clause of the summary of a type: it must fit on one line. */
function shortOf(summary: string): string {
  return summary.replaceAll("`", "").split(/[;:]|\.(?:\s|$)/, 1)[0] ?? "";
}

function grouped(
  entries: readonly CatalogEntry[],
  filter: string,
): readonly (readonly [string, readonly CatalogEntry[]])[] {
  const wanted = filter.trim().toLowerCase();
  const groups = new Map<string, CatalogEntry[]>();
  for (const entry of entries) {
    const { type, title, summary, category, tags, deprecated } = entry;
    const isFound = [type, title, summary, ...tags].some((text) =>
      text.toLowerCase().includes(wanted),
    );
    if (!isFound || deprecated !== undefined) continue;
    groups.set(category, [...(groups.get(category) ?? []), entry]);
  }
  return [...groups];
}

/** The type that a search means, so that Enter adds it; "": nothing is searched for, or nothing found. */
function bestOf(found: readonly CatalogEntry[], filter: string): string {
  const wanted = filter.trim().toLowerCase();
  if (wanted === "") return "";
  const best = found.find(({ type }) => type.includes(wanted)) ?? found[0];
  return best?.type ?? "";
}

/** The last part of a type that is not taken, such as `request2`. */
function freeName(type: string, taken: readonly string[]): string {
  const base = /[A-Za-z][\w-]*$/.exec(type)?.[0] ?? "node";
  let name = base;
  for (let count = 2; taken.includes(name); count += 1) name = `${base}${count}`;
  return name;
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl+S", "Save"],
  ["Ctrl+Enter", "Run"],
  ["Ctrl+Shift+F", "Format"],
  ["F8", "Go to the next problem"],
  ["Ctrl+/", "Show these keys"],
  ["Ctrl+Z, Ctrl+Y", "Undo and redo in the text; changes made in the picture, too"],
  ["Ctrl+Space", "Offer what may stand at the cursor"],
  ["Tab, Escape", "In a block that was completed: go to its next place, or stop that"],
  ["F2", "Rename what the cursor is on, or the chosen node of the tree"],
  ["F12", "Go to the definition"],
  ["Alt+F1", "Say what the thing at the cursor is"],
  ["Ctrl+F", "Search in the text"],
  ["Ctrl+Alt+/", "Make the line a comment, or no comment"],
  ["↑ ↓ ← → Home End", "In the tree: move, open and close; letters find a name"],
  ["Alt+↓, Alt+↑", "In the tree: along an edge"],
  ["Enter", "In the tree: go to the inspector"],
  ["Delete", "In the tree: delete the node"],
  ["↑ ↓ ← → + −", "In the picture: move it, make it larger or smaller"],
  ["← → Home End", "On the border of a pane: move it"],
  ["Tab, Shift+Tab", "Leave the text, and go on to what comes next"],
];

/** The keys of this screen. On a Mac Ctrl is Cmd. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ComponentChildren {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <DialogActions close="Close" hasFocus onClose={onClose} />
    </Dialog>
  );
}
