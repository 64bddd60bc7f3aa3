/** What `gh pr list --json …` prints, read with care: other versions of gh may leave things out. */
import { isRecord } from "../base/json-record.ts";
import type { GithubCheck, GithubPr } from "./project-status.ts";

export interface PullRequest {
  pr: GithubPr;
  failingChecks: GithubCheck[];
}

const MAX_TEXT = 500;
const MAX_CHECKS = 50;

/** Of a check run its conclusion, of a commit status its state. Cancelled is not failed. */
const FAILURES = new Set(["failure", "error", "timed_out", "action_required", "startup_failure"]);

export function parsePullRequests(text: string): PullRequest[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw new Error("gh printed something that is not JSON; is it really the GitHub CLI?");
  }
  if (!Array.isArray(list)) throw new Error("gh printed JSON that is not a list; is it really the GitHub CLI?");
  return list.flatMap((item: unknown) => readPullRequest(item));
}

function readPullRequest(item: unknown): PullRequest[] {
  if (!isRecord(item) || typeof item["number"] !== "number") return [];
  const author = item["author"];
  const rollup = item["statusCheckRollup"];
  return [
    {
      pr: {
        number: item["number"],
        title: textOf(item["title"]),
        branch: textOf(item["headRefName"]),
        state: textOf(item["state"]).toLowerCase(),
        author: isRecord(author) ? textOf(author["login"]) : "",
        updatedAt: textOf(item["updatedAt"]),
      },
      failingChecks: Array.isArray(rollup)
        ? rollup.flatMap((check: unknown) => readFailingCheck(check)).slice(0, MAX_CHECKS)
        : [],
    },
  ];
}

function readFailingCheck(check: unknown): GithubCheck[] {
  if (!isRecord(check)) return [];
  const isStatus = check["__typename"] === "StatusContext";
  const conclusion = textOf(check[isStatus ? "state" : "conclusion"]).toLowerCase();
  if (!FAILURES.has(conclusion)) return [];
  const workflow = textOf(check["workflowName"]);
  const name = textOf(check[isStatus ? "context" : "name"]);
  return [
    {
      name: workflow === "" ? name : `${workflow} / ${name}`,
      status: isStatus ? "completed" : textOf(check["status"]).toLowerCase(),
      conclusion,
    },
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT) : "";
}
