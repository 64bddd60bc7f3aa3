// Plain JavaScript that every Node since 18 can run: it has to work exactly where the rest cannot.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Holdfast needs Node 24 or newer; this is ${process.version}.\n` +
      "The project brings its own: run `npm ci` (without --ignore-scripts) and use `npm run …` or `npx …`.",
  );
  process.exit(1);
}
