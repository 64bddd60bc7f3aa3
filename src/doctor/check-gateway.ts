/** What a gateway leaves in the home: where it listens, and the token that its clients need. */
import { rm } from "node:fs/promises";
import { configFile, gatewayLayout } from "../config/layout.ts";
import type { Diagnosis } from "./finding.ts";

export interface GatewayFacts {
  /** `elsewhere`: on another machine, of which nobody here knows more. `ended`: without saying so. */
  state: "none" | "running" | "elsewhere" | "ended";
  /** True: it does not know of what was configured since it was started. */
  hasOldConfig?: boolean;
  /** Why the token cannot be used. Left out: it can, or there is none yet. */
  tokenProblem?: string | undefined;
}

export async function* checkGateway(home: string, facts: GatewayFacts): AsyncGenerator<Diagnosis> {
  const { state, hasOldConfig = false, tokenProblem } = facts;
  const { runtimeFile, tokenFile } = gatewayLayout(home);
  if (tokenProblem !== undefined) {
    yield { finding: { severity: "error", message: tokenProblem, path: tokenFile } };
  }
  if (hasOldConfig) {
    yield {
      finding: {
        severity: "info",
        message:
          "The gateway was started before the configuration was changed: stop it and start it again to take it up",
        path: configFile(home),
      },
    };
  }
  if (state !== "ended") return;
  yield {
    finding: {
      severity: "warning",
      message: "A gateway that has ended without saying so left a note of where it listened",
      path: runtimeFile,
      fix: "remove the note; the next gateway writes its own",
    },
    mend: async () => await rm(runtimeFile, { force: true }),
  };
}
