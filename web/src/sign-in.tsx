import { type FormEvent, useId, useState } from "react";
import { tokenFromText } from "./address.ts";
import { useController, usePageState } from "./page-context.ts";
import { Logo } from "./parts/icons.tsx";

export function SignIn() {
  const controller = useController();
  const reason = usePageState(({ link }) => (link.state === "signed-out" ? link.reason : undefined));
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const field = useId();
  const help = useId();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const token = tokenFromText(text);
    if (token === undefined) {
      setProblem("Paste a link with a token, or the token itself.");
      return;
    }
    setProblem(undefined);
    controller.signIn(token);
  };
  const shown = problem ?? reason;

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={submit}>
        <Logo />
        <h1>Sign in to Holdfast</h1>
        <p>
          <code>holdfast gateway link</code> prints a link to this page. Open it, or paste it here. The token alone
          works too; it is in <code>gateway.token</code> in Holdfast’s home folder.
        </p>
        {shown !== undefined && (
          <p className="problem" role="alert">
            {shown}
          </p>
        )}
        <label htmlFor={field}>Link or token</label>
        <input
          id={field}
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={text}
          aria-describedby={help}
          aria-invalid={shown !== undefined}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="primary" disabled={text.trim() === ""}>
          Sign in
        </button>
        <p className="hint" id={help}>
          The token stays in this tab and is only sent to this gateway.
        </p>
      </form>
    </main>
  );
}
