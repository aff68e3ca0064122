import { type FormEvent, useState } from "react";
import { Refused } from "../api/client";
import { useSignIn } from "../api/session";
import { useWords } from "../kit/i18n";
import { Button, Card, ErrorNote, Field, INPUT } from "../kit/parts";

/** Where somebody begins whom the gateway does not know: what it takes to come in, and the means. */
export function SignIn({ error }: { error?: unknown }) {
  const say = useWords();
  const signIn = useSignIn();
  const [token, setToken] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim()) signIn.mutate(token.trim());
  };
  const problem = signIn.error ?? (error instanceof Refused ? error : null);
  return (
    <div className="mx-auto mt-8 max-w-md">
      <Card>
        <h1 className="mb-2 font-semibold text-xl">{say("session.title")}</h1>
        <p className="mb-2 text-sm">{say("session.hint")}</p>
        <ul className="mb-4 list-disc space-y-1 ps-5 text-faint text-sm">
          <li>{say("session.link")}</li>
          <li>{say("session.tokenHint")}</li>
        </ul>
        <form onSubmit={submit} className="space-y-3">
          <Field label={say("session.token")}>
            <input
              className={INPUT}
              type="password"
              autoComplete="current-password"
              value={token}
              onChange={(change) => setToken(change.target.value)}
            />
          </Field>
          <Button type="submit" look="primary" disabled={!token.trim() || signIn.isPending}>
            {say("session.signIn")}
          </Button>
          {problem ? <ErrorNote error={problem} /> : null}
        </form>
      </Card>
    </div>
  );
}
