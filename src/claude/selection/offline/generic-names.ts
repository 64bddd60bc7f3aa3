/** Names of files and folders that every project has. */
const GENERIC_NAMES = new Set(
  "index main mod lib utils util helpers helper common constants types type config settings setup init app readme changelog license makefile dockerfile conftest test tests spec handler handlers middleware model models schema routes router service services controller store styles style variables outputs package tsconfig cargo go pom build gemfile podfile requirements page layout views urls admin base core client server run cli todo notes".split(
    " ",
  ),
);
const GENERIC_FOLDERS = new Set(
  "src lib libs app apps packages package crates internal pkg cmd test tests spec specs __tests__ docs doc scripts components component views view pages utils helpers common shared core public assets static main java kotlin python js ts web api server client services service modules module models controllers hooks include source tools bin config v1 v2 v3".split(
    " ",
  ),
);

/** The name of a file, without its extension. */
export function isGenericName(name: string): boolean {
  return GENERIC_NAMES.has(name.toLowerCase());
}

export function isGenericFolder(name: string): boolean {
  return GENERIC_FOLDERS.has(name.toLowerCase());
}
