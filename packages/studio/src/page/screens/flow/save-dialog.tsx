/** The dialog "Save flow": where a flow is stored, and how it is found again. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/fields.tsx";
import type { FlowDetails } from "../../state/flow-session.ts";
import { useAction } from "../../state/use-action.ts";

/** Asks for slug, name, description and tags. `isNew`: the flow was never saved, so its slug is still to be chosen. */
export function SaveDialog({
  initial,
  isNew,
  noteOf,
  onSave,
  onClose,
}: {
  readonly initial: Required<FlowDetails>;
  readonly isNew: boolean;
  /** The state of the text after a failure. */
  readonly noteOf: (error: unknown) => string | undefined;
  readonly onSave: (details: FlowDetails) => Promise<void>;
  readonly onClose: () => void;
}): ComponentChildren {
  const [details, setDetails] = useState({ ...initial, tags: initial.tags.join(", ") });
  const save = useAction(() => {
    const { slug, name, description } = details;
    const tags = details.tags.split(",").flatMap((tag) => tag.trim() || []);
    return onSave({
      slug: slug.trim(),
      ...(name.trim() !== "" && { name: name.trim() }),
      description: description.trim(),
      tags: [...new Set(tags)],
    });
  });
  const field = (title: string, key: keyof typeof details, isRequired = false) => (
    <TextField
      label={title}
      spellcheck={key !== "slug"}
      required={isRequired}
      readOnly={key === "slug" && !isNew}
      value={details[key]}
      onTyped={(value) => setDetails({ ...details, [key]: value })}
    />
  );
  return (
    <FormDialog
      title="Save flow"
      action="Save"
      work={save}
      note={noteOf(save.error)}
      onClose={onClose}
    >
      {field("Slug", "slug", true)}
      {isNew && (
        <p class="muted">
          The slug names the flow in addresses and commands: small letters, digits and hyphens.
        </p>
      )}
      {field("Name", "name")}
      {field("Description", "description")}
      {field("Tags", "tags")}
      <p class="muted">Tags are separated by commas.</p>
    </FormDialog>
  );
}
