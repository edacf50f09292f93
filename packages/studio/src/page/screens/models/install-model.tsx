/** The form that installs a model: where it comes from, and the digest that its file must have. */
import type { ModelInstallArgs } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { invokeOnce } from "../../backend.ts";
import { CheckField, TextField } from "../../parts/fields.tsx";
import { FormCard } from "../../parts/new-item.tsx";
import { useAction } from "../../state/use-action.ts";

/** Asks for source, name and digest. */
export function InstallModel({
  onStarted,
  onClose,
}: {
  readonly onStarted: () => void;
  readonly onClose: () => void;
}): ComponentChildren {
  const [source, setSource] = useState("");
  const [id, setId] = useState("");
  const [digest, setDigest] = useState("");
  const [isUnverified, setUnverified] = useState(false);
  const hint = useId();
  const sha256 = digest
    .trim()
    .toLowerCase()
    .replace(/^sha256:/, "");
  const isWrong = sha256 !== "" && !/^[0-9a-f]{64}$/.test(sha256);
  const install = useAction(async () => {
    const args: ModelInstallArgs = {
      source: sourceArg(source.trim()),
      ...(id !== "" && { id }),
      ...(sha256 !== "" && { sha256 }),
      ...(isUnverified && { allowUnverified: true }),
    };
    await invokeOnce("install_model", args);
    onStarted();
  });
  return (
    <FormCard
      name="Install model"
      action="Install"
      work={install}
      check={() => !isWrong}
      onClose={onClose}
    >
      <TextField
        label="Source"
        required
        placeholder="https://…/model.gguf, or hub:<hub>/<item>"
        value={source}
        onTyped={setSource}
      />
      <TextField
        label="Name"
        placeholder="as in the source"
        value={id}
        onTyped={(text) => setId(text.trim())}
      />
      <TextField
        label="SHA-256"
        class="digest"
        aria-invalid={isWrong}
        aria-describedby={hint}
        required={!isUnverified && /^https?:/.test(source)}
        value={digest}
        onTyped={setDigest}
      />
      <p id={hint} class={isWrong ? "problem" : "muted"}>
        {isWrong
          ? "A SHA-256 digest has 64 hexadecimal digits."
          : "The publisher of the file gives it. A file with another digest is not installed."}
      </p>
      <CheckField
        label="Install without a digest"
        isChecked={isUnverified}
        onChecked={setUnverified}
      />
    </FormCard>
  );
}

/** Text that is neither an address nor a hub's name is a file of the server's machine. */
function sourceArg(written: string): ModelInstallArgs["source"] {
  return /^(https?|hub):/.test(written) ? written : { file: written };
}
