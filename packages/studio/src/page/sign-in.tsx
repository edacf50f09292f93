/** The sign-in: over the page, which keeps its place and what was typed. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./parts/button.tsx";
import { TextField } from "./parts/fields.tsx";
import { Heading } from "./parts/heading.tsx";
import { messageOf } from "./parts/problem.tsx";
import { signIn } from "./state/meta.ts";
import { useAction } from "./state/use-action.ts";

/** Asks for the token of a server. */
export function SignIn(): ComponentChildren {
  const [typed, setTyped] = useState("");
  const [isRefused, setRefused] = useState(false);
  const action = useAction(async () => {
    setRefused(false);
    setRefused(!(await signIn(typed.trim())));
  });
  const problem = isRefused
    ? "This token is not accepted"
    : action.error === undefined
      ? undefined
      : messageOf(action.error);
  return (
    <main class="sign-in">
      <Heading title="Sign in" />
      <p>This server needs an access token. Whoever runs the server has it.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
        <TextField label="Access token" type="password" required value={typed} onTyped={setTyped} />
        <div role="alert">{problem !== undefined && <p class="problem">{problem}</p>}</div>
        <Button type="submit" class="primary" disabled={action.isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
