/** Inline icons. All are decorative; the control around them has the label. */
const PATHS = {
  back: "M12.5 4.5 7 10l5.5 5.5",
  chevron: "m6 8 4 4 4-4",
  close: "m5.5 5.5 9 9m0-9-9 9",
  down: "M10 4v11.5M5 10.8l5 5 5-5",
  handoff: "M3.5 10h11M11 6l4 4-4 4M16.5 4v12M3.5 6.5v7",
  history: "M3.5 10a6.5 6.5 0 1 0 2-4.7L3.5 7.2M3.5 3.6v3.6h3.6M10 6.5V10l2.5 1.6",
  plus: "M10 4v12M4 10h12",
  search: "M13.5 9a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0m-1 3.5 4 4",
  send: "M10 16V4.5M5 9.2l5-5 5 5",
  stop: "M7 5.5h6A1.5 1.5 0 0 1 14.5 7v6a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 13V7A1.5 1.5 0 0 1 7 5.5",
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <circle cx="16" cy="7" r="3" />
      <path d="M16 10.2V27M9.8 14.6h12.4M5.5 18.2c0 5.2 4.6 8.6 10.5 8.6s10.5-3.4 10.5-8.6" />
    </svg>
  );
}
