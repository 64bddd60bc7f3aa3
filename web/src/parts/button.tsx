import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icons.tsx";

interface Props extends ComponentProps<"button"> {
  icon?: IconName;
  /** Read aloud in place of the text. */
  label?: string;
}

/** A quiet button, unless `className` says otherwise. */
export function Button({ icon, label, className = "quiet", children, ...rest }: Props) {
  return (
    <button type="button" className={className} aria-label={label} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
