/** Inline icons. All are decorative; the control around them has the label. */
import type { ReactNode } from "react";

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {children}
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

export function BackIcon() {
  return (
    <Icon>
      <path d="M12.5 4.5 7 10l5.5 5.5" />
    </Icon>
  );
}

export function PlusIcon() {
  return (
    <Icon>
      <path d="M10 4v12M4 10h12" />
    </Icon>
  );
}

export function SearchIcon() {
  return (
    <Icon>
      <circle cx="9" cy="9" r="4.5" />
      <path d="m12.5 12.5 4 4" />
    </Icon>
  );
}

export function SendIcon() {
  return (
    <Icon>
      <path d="M10 16V4.5M5 9.2l5-5 5 5" />
    </Icon>
  );
}

export function StopIcon() {
  return (
    <Icon>
      <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" className="filled" />
    </Icon>
  );
}

export function HistoryIcon() {
  return (
    <Icon>
      <path d="M3.5 10a6.5 6.5 0 1 0 2-4.7L3.5 7.2M3.5 3.6v3.6h3.6M10 6.5V10l2.5 1.6" />
    </Icon>
  );
}

export function HandoffIcon() {
  return (
    <Icon>
      <path d="M3.5 10h11M11 6l4 4-4 4M16.5 4v12M3.5 6.5v7" />
    </Icon>
  );
}

export function CloseIcon() {
  return (
    <Icon>
      <path d="m5.5 5.5 9 9m0-9-9 9" />
    </Icon>
  );
}

export function ChevronIcon() {
  return (
    <Icon>
      <path d="m6 8 4 4 4-4" />
    </Icon>
  );
}

export function DownIcon() {
  return (
    <Icon>
      <path d="M10 4v11.5M5 10.8l5 5 5-5" />
    </Icon>
  );
}
