/** The workshop: builds, tests, reviews, docs, dependencies. */
import type { Topics } from "../topics.ts";

export const WORKSHOP_SCENES: Topics = {
  "build checks": `ci, continuous integration, pipeline, github actions, gitlab ci, jenkins, circleci, travis,
    buildkite, teamcity, azure pipelines, workflow file, runner, runners, build agents, build agent, build minutes,
    takes 40 minutes, slow builds, cache dependencies, build cache, shard, sharding tests, parallel jobs, red build,
    pull request checks, build is red, merge queue, nightly build, artifacts, artefacts, pull request takes, waiting
    for checks`,
  "shaky tests": `flaky, flaky test, flaky tests, fails sometimes, sometimes red, randomly red, passes on retry,
    intermittent, intermittently, works locally, locally but not, only in ci, order dependent, test isolation, sleep
    in tests, race in test, waitfor, retry tests, quarantine, unreliable tests, passes on the second try, coin flip,
    nondeterministic, e2e, playwright, cypress, selenium, webkit only, headless`,
  "version numbers": `release notes, changelog, semver, semantic version, version bump, tag, tagging, release script,
    release process, goreleaser, cargo-dist, semantic-release, changesets, publish package, npm publish, pypi, maven
    central, release candidate, cut a release, attach the artefacts, sign artefacts`,
  "new developers": `newcomer, newcomers, new hires, new hire, new developer, new developers, new colleague, get the
    thing running, get it running, on their laptop, set up locally, local setup, setup section, setup guide,
    contributing, contributing.md, readme, docker compose steps, dev environment, devcontainer, codespaces, makefile
    target, first day, onboarding docs, bootstrap script, mise, asdf, nix, toolchain versions, getting started,
    install instructions, machine setup, laptop`,
  "written docs": `documentation, docs, readme, wiki, handbook, adr, architecture decision, architecture decision
    record, code comments, docstring, api reference, runbook, diagram, mkdocs, sphinx, backstage, catalog-info,
    storybook docs, explain how, user guide, manual, tutorial, outdated docs, docs site`,
  "code review habits": `pull request template, pr template, checklist, codeowners, code owners, reviewer, review
    rules, conventional commits, commit message, commit-msg, pre-commit, husky, git hooks, githooks, branch
    protection, blame ignore, reformat, stale bot, issue template, issue labels, labels bot, renovate, dependabot,
    editorconfig, copyright, licence header, security policy, third party licence`,
  packages: `dependency, dependencies, upgrade, bump, outdated, npm, yarn, pnpm, pip, poetry, uv, cargo, maven,
    gradle, nuget, composer, bundler, lockfile, major version, end of life, eol, upgrade rails, upgrade to, java 21,
    python 3.12, node 22, spring boot 3, vue 3, react 19, angular, django 5, deprecated api, breaking changes, peer
    dependency, vulnerable dependency, library update, minor dependencies, torch 2`,
  "code shape": `refactor, refactoring, clean up, cleanup, split file, too long, 900 lines, too big class, god class,
    extract, extract class, dead code, unused code, duplicated code, copy paste, di container, dependency injection,
    constructor, inject, layering, hexagonal, circular imports, circular dependency, naming, rename, css modules,
    monorepo, module boundaries, interface extraction, untangle`,
  "checking code": `lint, linter, eslint, ruff, black, prettier, formatter, clippy, checkstyle, sonar, sonarqube,
    quality gate, unused imports, unused variables, import order, type check, mypy, typescript strict, tsc, strict
    null, any types, static analysis, warnings, lint rule, detekt, ktlint, biome`,
  "slow compile": `compile time, compile times, build time, build times, incremental build, incremental compilation,
    ccache, sccache, precompiled headers, build takes, coffee, afternoon, build graph, bazel, gradle daemon,
    turborepo, nx cache, remote cache, cold build, docker build time`,
  "does not build": `does not build, won't compile, build error, linker error, undefined reference, missing header,
    module not found, cannot find module, esm, commonjs, exec format error, arm64, apple silicon, m1, toolchain,
    cmake, makefile, cross-compile, musl, glibc, node-gyp, native addon, wheel, build from make`,
  "merging work": `merge conflict, merge conflicts, rebase, long-lived branch, trunk-based, git history, large files,
    git lfs, repo is huge, submodule, monorepo split, cherry-pick, package-lock conflicts, lockfile conflict, lock
    file, out of sync after merge, bisect, squash`,
};
